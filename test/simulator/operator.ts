/** A person with a hand on everything, at the worst moments. */
import { HoldfastError } from "../../packages/holdfast/src/core/errors.ts";
import { KINDS, QUEUES } from "./contracts.ts";
import type { Draw } from "./draw.ts";
import type { Book } from "./facts/book.ts";
import type { JobFacts } from "./facts/job-facts.ts";
import type { Settings } from "./settings.ts";
import type { SimProcess } from "./sim-process.ts";

export interface OperatorOptions {
  readonly draw: Draw;
  readonly book: Book;
  readonly settings: Settings;
  readonly process: () => SimProcess;
  readonly onSurprise: (error: unknown) => void;
}

const ACTIONS = {
  cancel: 4,
  retry: 4,
  remove: 2,
  reschedule: 1,
  pause: 2,
  resume: 4,
  hold: 1,
  release: 2,
  limit: 3,
  unlimit: 3,
  prune: 1,
  look: 2,
  cancelMany: 0.5,
  reviveMany: 1,
} as const;

const WHY = { reason: "simulated", by: "operator" };
const OWNERS = ["cooldown:a", "breaker:b"];

export class SimOperator {
  readonly #options: OperatorOptions;

  constructor(options: OperatorOptions) {
    this.#options = options;
  }

  act(): void {
    this.#do().catch((error: unknown) => {
      // Not found, wrong status, store away: an operator lives with those.
      if (!(error instanceof HoldfastError)) this.#options.onSurprise(error);
    });
  }

  /** Everything is let go: what is left must be able to run. */
  async letGo(): Promise<void> {
    const { book, process } = this.#options;
    const { store } = process();
    for (const queue of book.queues.values()) {
      const places = [null, ...queue.lines.keys()].map((group) => ({ queue: queue.name, group }));
      for (const owner of ["pause", ...OWNERS]) {
        await store.hold(places.map((place) => ({ ...place, owner, hold: null })));
      }
      await store.limit(
        places.map(({ group, ...place }) =>
          group === null
            ? { ...place, group, maxActive: null, maxActivePerGroup: null, maxWaiting: null }
            : { ...place, group, maxActive: null, weight: null },
        ),
      );
    }
  }

  async #do(): Promise<unknown> {
    const { draw, book, process } = this.#options;
    const { hf, store } = process();
    const action = draw.weighted(ACTIONS);
    const queue = draw.pick(QUEUES);
    const line = this.#line(queue);
    switch (action) {
      case "cancel":
        return this.#withJob(draw.pick(["queued", "processing"]), "processing", (job) =>
          hf.cancel(job.id, WHY),
        );
      case "retry":
        return this.#withJob("dead", "cancelled", ({ id }) =>
          hf.retry(id, {
            ...(draw.chance(0.5) && { attempts: draw.whole(1, 3) }),
            ...(draw.chance(0.3) && { delayMs: draw.whole(0, 2_000) }),
            ...(draw.chance(0.3) && { payload: { again: draw.whole(1, 3) } }),
          }),
        );
      case "remove":
        return this.#withJob("queued", "dead", (job) => hf.remove(job.id, WHY));
      case "reschedule":
        return this.#withJob("queued", "queued", ({ id }) =>
          store.reschedule({ ids: [{ id }] }, { delayMs: draw.whole(0, 3_000), runAt: null }, WHY),
        );
      case "pause":
        return hf.pause(line, draw.chance(0.7) ? { forMs: draw.whole(50, 8_000) } : {});
      case "resume":
        return hf.resume(line);
      case "hold":
      case "release": {
        const hold = { forMs: draw.whole(50, 8_000), reason: "simulated", by: null };
        const change = { queue, group: line.group ?? null, owner: draw.pick(OWNERS) };
        return store.hold([{ ...change, hold: action === "hold" ? hold : null }]);
      }
      case "limit":
        return hf.limit(
          line,
          line.group === undefined
            ? {
                maxActive: draw.pick([null, 1, 2, 5]),
                maxActivePerGroup: draw.pick([null, 1, 2]),
                maxWaiting: draw.pick([null, null, 10, 40]),
                weights: { g1: draw.whole(1, 4) },
              }
            : { maxActive: draw.pick([null, 0, 1, 3]), weight: draw.whole(1, 3) },
        );
      case "unlimit":
        return hf.limit(line, { maxActive: null });
      case "prune":
        return store.prune(
          [
            { queue, status: "succeeded", olderThanMs: draw.whole(0, 20_000), keep: null },
            { queue: null, status: "dead", olderThanMs: null, keep: draw.whole(5, 40) },
          ],
          draw.whole(1, 50),
        );
      case "look":
        await hf.counts();
        await hf.lines(queue);
        return hf.jobs({ queue, limit: 20 });
      case "cancelMany":
        return this.#many(async (target) =>
          store.cancel({ ...target, filter: { queue, type: draw.pick(KINDS) } }, WHY),
        );
      case "reviveMany":
        return this.#many(async (target) =>
          store.revive(
            { ...target, filter: { status: ["dead"], queue } },
            { attempts: 2, delayMs: 0, runAt: null },
            WHY,
          ),
        );
    }
    return book;
  }

  async #many(
    step: (target: {
      readonly frozenAt: number;
      readonly limit: number;
      readonly cursor: string | null;
    }) => Promise<{ readonly nextCursor: string | null }>,
  ): Promise<void> {
    const frozenAt = this.#options.book.clock.now;
    let cursor: string | null = null;
    do {
      ({ nextCursor: cursor } = await step({ frozenAt, limit: 5, cursor }));
    } while (cursor !== null);
  }

  #line(queue: string): { queue: string; group?: string } {
    const { draw, settings } = this.#options;
    if (settings.groups === 0 || draw.chance(0.5)) return { queue };
    return { queue, group: `g${draw.whole(1, settings.groups)}` };
  }

  /** Some job that is, or was a moment ago, in one of these statuses. */
  async #withJob(
    one: JobFacts["status"],
    other: JobFacts["status"],
    action: (job: JobFacts) => Promise<unknown>,
  ): Promise<unknown> {
    const { book, draw } = this.#options;
    const jobs = [...book.jobs.values()].filter(({ status }) => status === one || status === other);
    return jobs.length === 0 ? null : action(draw.pick(jobs));
  }
}
