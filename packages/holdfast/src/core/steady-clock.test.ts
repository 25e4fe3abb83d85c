import { expect, test } from "vitest";
import { readSteadily, UNREAD_CLOCK, type SteadyClock } from "./steady-clock.ts";

function read(...hosts: readonly number[]): SteadyClock {
  return hosts.reduce(readSteadily, UNREAD_CLOCK);
}

test("a clock follows its host", () => {
  expect(read(5_000, 6_000, 9_000).mark).toBe(9_000);
});

test("a clock waits for a host that stepped back a little", () => {
  expect(read(5_000, 4_500).mark).toBe(5_000);
  expect(read(5_000, 4_500, 4_900).mark).toBe(5_000);
  expect(read(5_000, 4_500, 5_100).mark).toBe(5_100);
});

test("a clock whose host was ahead and is put right goes on, a little slower", () => {
  expect(read(100_000, 10_000).mark).toBe(100_000);
  expect(read(100_000, 10_000, 20_000).mark).toBe(109_000);
  expect(read(100_000, 10_000, 20_000, 30_000).mark).toBe(118_000);
});

test("a clock that is ahead meets its host again and follows it", () => {
  expect(read(100_000, 10_000, 909_999).mark).toBeGreaterThan(909_998);
  expect(read(100_000, 10_000, 910_001, 950_000)).toEqual({ mark: 950_000, ahead: null });
});

test("a second jump back while ahead costs its own reading only", () => {
  const clock = read(100_000, 50_000, 60_000, 10_000);
  expect(clock.mark).toBe(109_000);
  expect(readSteadily(clock, 20_000).mark).toBe(118_000);
});

test("a clock never runs backwards", () => {
  let clock = UNREAD_CLOCK;
  const hosts = [5_000, 3_900, 3_800, 9_000, 8_500, 100, 1_200, 90, 500_000, 2_000, 2_500];
  for (const host of hosts) {
    const next = readSteadily(clock, host);
    expect(next.mark).toBeGreaterThanOrEqual(clock.mark);
    clock = next;
  }
});
