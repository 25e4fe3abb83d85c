import { expect, it } from "vitest";
import type { Overview } from "../api/types.ts";
import { Samples } from "./samples.ts";

const NOW = Date.parse("2026-11-18T12:00:00Z");

const seen = (ready: number) =>
  ({
    totals: { oldestReadyAt: null, processing: 1 },
    queues: [{ queue: "mail", ready }],
  }) as unknown as Overview;

it("a queue's line is of its last two minutes, however often it was looked at", () => {
  const samples = new Samples();
  for (let at = 0; at <= 180_000; at += 4_000) samples.add(seen(at), NOW + at);
  const line = samples.ofQueue("mail");
  expect(line).toHaveLength(30);
  expect(line.at(-1)).toBe(180_000);
});

it("a page that was not looked at draws no line through that time", () => {
  const samples = new Samples();
  for (let at = 0; at < 60_000; at += 1_000) samples.add(seen(1), NOW + at);
  samples.add(seen(9), NOW + 3 * 3_600_000);
  expect(samples.ofQueue("mail")).toEqual([9]);
  expect(samples.all).toHaveLength(1);
});

it("a page that is open for hours keeps fifteen minutes", () => {
  const samples = new Samples();
  for (let at = 0; at < 3_600_000; at += 1_000) samples.add(seen(1), NOW + at);
  expect(samples.all).toHaveLength(900);
});
