import { describe, expect, it } from "vitest";
import { JobCancelledError } from "../../core/errors.ts";
import type { LeasedJob } from "../../core/store.ts";
import { VirtualTime } from "../../testing/virtual-time.ts";
import { Attempt } from "../run/attempt.ts";
import { Suspects } from "./suspects.ts";

function ward() {
  const time = new VirtualTime();
  const started: string[] = [];
  const leaving: { id: string; done: () => void }[] = [];
  let resumed = 0;
  const suspects = new Suspects({
    runtime: time.runtime(),
    start: ({ job }) => started.push(job.id),
    handBack: ({ job }, done) => leaving.push({ id: job.id, done }),
    resume: () => (resumed += 1),
  });
  return { time, suspects, started, leaving, resumed: () => resumed };
}

function attempt(id: string): Attempt {
  return new Attempt({ id } as LeasedJob, { worker: "w", leaseEndsAt: 1_000 });
}

describe("Suspects", () => {
  it("starts one only when the store has the others back", () => {
    const { suspects, started, leaving } = ward();
    suspects.take(attempt("a"), { hasSlot: true });
    suspects.take(attempt("b"), { hasSlot: true });
    suspects.startIfAlone();
    expect(started).toEqual([]);
    expect(suspects.keepQuiet).toBe(true);
    leaving[0]!.done();
    expect(started).toEqual(["a"]);
  });

  it("lets the worker lease again once the suspect has lived for a while, or has ended", async () => {
    const { time, suspects, resumed } = ward();
    const suspect = attempt("a");
    suspects.take(suspect, { hasSlot: true });
    suspects.startIfAlone();
    expect(suspects.keepQuiet).toBe(true);
    await time.advance(10_000);
    expect(suspects.keepQuiet).toBe(false);
    expect(resumed()).toBe(1);
    suspects.ended(suspect);
    expect(resumed()).toBe(2);
  });

  it("hands back what finds no free slot", () => {
    const { suspects, started, leaving } = ward();
    suspects.take(attempt("a"), { hasSlot: false });
    suspects.startIfAlone();
    expect(started).toEqual([]);
    expect(leaving.map(({ id }) => id)).toEqual(["a"]);
    expect(suspects.keepQuiet).toBe(false);
  });

  it("hands one back once, whatever is heard of it meanwhile", () => {
    const { suspects, leaving } = ward();
    suspects.take(attempt("a"), { hasSlot: true });
    const second = attempt("b");
    let heard = 0;
    second.onAbort = () => (heard += 1);
    suspects.take(second, { hasSlot: true });
    second.abort(new JobCancelledError("cancelled while it was on its way back"));
    expect(heard).toBe(0);
    expect(leaving).toHaveLength(1);
  });

  it("gives the one that waits back when the worker stops", () => {
    const { suspects, leaving } = ward();
    suspects.take(attempt("a"), { hasSlot: true });
    suspects.close();
    expect(leaving.map(({ id }) => id)).toEqual(["a"]);
  });
});
