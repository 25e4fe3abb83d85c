import { describe, expect, it } from "vitest";
import { newJob } from "../../../testing/conformance/new-job.ts";
import { newDocument } from "../insert.ts";
import { handleOf, jobsOf, MOST_IN_PACK, MOST_SPREAD, parcelsOf, placeOf } from "./packs.ts";
import type { JobDocument, Pack } from "../schema.ts";

const NOW = Date.UTC(2031, 0, 1);

const LEASE = {
  status: "processing",
  lease: "t",
  v: "t",
  attempts: 1,
  fence: NOW * 1_000,
} as const;

function documents(count: number, overrides: Parameters<typeof newJob>[0] = {}): JobDocument[] {
  return Array.from({ length: count }, (_, index) =>
    newDocument(newJob(overrides), { seq: 100 + index, now: NOW }),
  );
}

function sizes(jobs: readonly JobDocument[]): number[] {
  return parcelsOf(jobs, LEASE).map((parcel) => parcel.jobs.length);
}

describe("parcels", () => {
  it("are packs of jobs of one type, whatever else they are", () => {
    const jobs = documents(MOST_IN_PACK * 2 + 1);
    expect(sizes(jobs)).toEqual([MOST_IN_PACK, MOST_IN_PACK, 1]);
    const [a, b, c, d] = documents(4) as [JobDocument, JobDocument, JobDocument, JobDocument];
    expect(sizes([a, { ...b, group: "g" }, { ...c, priority: 7 }, d])).toEqual([4]);
    expect(sizes([a, { ...b, type: "other" }, c, d])).toEqual([3, 1]);
  });

  it("hold numbers that are near each other", () => {
    const [a, b, c] = documents(3) as [JobDocument, JobDocument, JobDocument];
    const far = { ...c, seq: a.seq + MOST_SPREAD + 1 };
    const parcels = parcelsOf([far, b, a], LEASE);
    expect(parcels.map(({ jobs }) => jobs)).toEqual([[a, b], [far]]);
    expect(parcels[0]?.document).toMatchObject({ first: a.seq, last: b.seq, n: 2, left: 2 });
  });

  it("are bounded by the payloads in them", () => {
    expect(sizes(documents(6, { payload: JSON.stringify("x".repeat(10_000)) }))).toEqual([3, 3]);
  });
});

describe("the jobs of a pack", () => {
  const jobs = documents(3, { tags: ["a"], meta: '{"m":1}', trace: "t", group: "g" });
  const pack = parcelsOf(jobs, LEASE)[0]?.document as unknown as Pack;

  it("are the jobs that were put into it, leased", () => {
    for (const [index, { packed, ...job }] of jobsOf(pack).entries()) {
      const { payload, group, priority, seq, _id, queue, type, maxAttempts } = jobs[
        index
      ] as JobDocument;
      expect(packed).toEqual({ pack: pack._id, index, n: 3 });
      expect(job).toMatchObject({ _id, payload, group, priority, seq, queue, type, maxAttempts });
      expect(job).toMatchObject({ tags: ["a"], meta: '{"m":1}', trace: "t", runAt: NOW, ...LEASE });
    }
  });

  it("have each its own end", () => {
    const leased = { leased: "q", leaseUntil: NOW + 5 } as const;
    const results = { 1: { result: '"r"' } };
    const partly = { ...pack, ...leased, left: 2, ends: { 1: NOW + 1 }, results };
    const [first, second] = jobsOf({ ...partly, finishedAt: NOW + 1 });
    expect(first).toMatchObject({ status: "processing", finishedAt: null, leaseUntil: NOW + 5 });
    expect(second).toMatchObject({ status: "succeeded", finishedAt: NOW + 1, result: '"r"' });
    expect(second).toMatchObject({ settledFence: pack.fence, leased: null, leaseUntil: null });
    const whole = { ...pack, status: "succeeded", left: 0, finishedAt: NOW + 9 } as const;
    expect(jobsOf(whole).map(({ finishedAt }) => finishedAt)).toEqual([NOW + 9, NOW + 9, NOW + 9]);
  });
});

describe("a handle", () => {
  const place = { pack: "100-abc", index: 3, n: 16 };

  it("names the place of its own job, and of no other", () => {
    const handle = handleOf(place, "an id");
    expect(placeOf({ handle, id: "an id" })).toEqual(place);
    expect(placeOf({ handle, id: "another" })).toBeNull();
    expect(placeOf({ handle: "plain", id: "an id" })).toBeNull();
  });
});
