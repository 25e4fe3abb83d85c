/**
 * Work that never ends: the kinds of the tour, a provider behind a gate, a schedule, an execution lock. Every second
 * a few jobs are enqueued, unless too many wait already.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Holdfast, JobItem } from "holdfast";
import { z } from "zod";
import { QUEUES, tourJobs } from "../tour/jobs.ts";

const EVERY_MS = 1_000;
const MOST_WAITING = 500;
/** The provider is down for so long, so often. */
const DOWN_MS = 30_000;
const DOWN_EVERY_MS = 120_000;
const TENANTS = ["tenant-big", "tenant-big", "tenant-big", "tenant-mid", "tenant-small"];

export async function sampleWork(hf: Holdfast): Promise<{ stop(): Promise<void> }> {
  const kinds = { ...tourJobs(hf).kinds, ...ownKinds(hf) };

  hf.schedule("report-every-20-seconds", { everyMs: 20_000, job: kinds.slow.of({ n: 1 }) });
  hf.schedule("monday-at-nine", {
    ...{ cron: "0 9 * * 1", timeZone: "Europe/Berlin" },
    job: kinds.close.of({ month: "last" }),
  });
  await hf.gates.set("provider", {
    ...{ queue: "live.crm", cooldown: true, rate: { limit: 2, perMs: 1_000, burst: 2 } },
    breaker: { failures: 3, withinMs: 20_000, openMs: 10_000 },
  });
  await hf.work({ queues: [...QUEUES, "live.crm", "live.books"], concurrency: 20 });

  let beat = 0;
  let enqueueing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    beat += 1;
    // One that takes long is waited for: a slow store is not asked for more.
    enqueueing = enqueueing.then(() => enqueueSome(hf, itemsOf(kinds, beat)));
  }, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await enqueueing;
    },
  };
}

function ownKinds(hf: Holdfast) {
  const startedAt = Date.now();
  const push = hf.define({
    type: "crm.push",
    queue: "live.crm",
    payload: z.object({ contact: z.string() }),
    retry: { maxAttempts: 10, baseMs: 2_000 },
    async run(job) {
      await pause(100, undefined, { signal: job.signal });
      const isDown = (Date.now() - startedAt) % DOWN_EVERY_MS > DOWN_EVERY_MS - DOWN_MS;
      if (isDown) throw Object.assign(new Error("the provider hung up"), { code: "ECONNRESET" });
      return { contact: job.payload.contact };
    },
  });
  const close = hf.define({
    type: "books.close",
    queue: "live.books",
    payload: z.object({ month: z.string() }),
    // The second job of a month finds it closed, and is skipped.
    lock: { key: "books.close", scope: ({ month }) => month },
    run: (job) => pause(2_000, undefined, { signal: job.signal }),
  });
  return { push, close };
}

type Kinds = ReturnType<typeof tourJobs>["kinds"] & ReturnType<typeof ownKinds>;

/** What one second brings. */
function itemsOf(kinds: Kinds, n: number): JobItem[] {
  const every = (beats: number, make: () => JobItem): JobItem[] =>
    n % beats === 0 ? [make()] : [];
  return [
    kinds.quick.of({ n, to: `user-${n}@example.com` }),
    kinds.push.of({ contact: `contact-${n}` }),
    ...TENANTS.map((group) => kinds.work.of({ n }, { group })),
    ...every(2, () => kinds.flaky.of({ n })),
    ...every(3, () =>
      kinds.once.of({ user: `user-${n % 10}` }, { idempotencyKey: `hi:${n % 10}` }),
    ),
    ...every(4, () => kinds.checkout.of({ order: `o-${n}` })),
    ...every(5, () => kinds.later.of({ n }, { delayMs: 8_000 })),
    ...every(7, () => kinds.slow.of({ n: n % 8 }, { priority: 10 })),
    ...every(12, () => kinds.hopeless.of({ to: `nobody-${n}` })),
    ...every(10, () => kinds.close.of({ month: `2026-${String((n % 12) + 1).padStart(2, "0")}` })),
  ];
}

/** A store that is away is no reason to stop: the worker goes on once it is back, and so does this. */
async function enqueueSome(hf: Holdfast, items: JobItem[]): Promise<void> {
  try {
    const waiting = Object.values(await hf.counts()).reduce((sum, { ready }) => sum + ready, 0);
    if (waiting < MOST_WAITING) await hf.enqueueAll(items);
  } catch (error) {
    console.error(`nothing was enqueued: ${(error as Error).message}`);
  }
}
