/**
 * A record's job: creates it under its external key, notes it in the book together with what it brings, and has
 * its activities stored with its success. Killed anywhere, it is done again, and nothing of it happens twice.
 */
import { chunkOf } from "./chunk.ts";
import { ordinalsOf, RecordChance } from "./decide-activities.ts";
import { expandNext } from "./expand-segment.ts";
import { recordKey } from "./external-key.ts";
import type { RecordPayload, Running } from "./jobs.ts";
import { jobKeys, secondaryQueue, tags } from "./names.ts";
import { ACTIVITIES, type ScenarioParams } from "./scenario.ts";
import type { SimulationRecord } from "./simulation.ts";
import type { Entry } from "./chunk.ts";
import { noteThinning } from "./thinning-events.ts";
import { unspent } from "./store-away.ts";
import { readSimulation, type Workshop } from "./workshop.ts";

/** What `create` gets. */
export interface RecordToCreate {
  readonly simulation: string;
  /** From 0. */
  readonly index: number;
  /** The same for every attempt and every job of this record: for the other system's idempotency. */
  readonly externalKey: string;
  /** When it was due. */
  readonly dueAt: Date;
  /** Null: the scenario has no deals. */
  readonly deal: "won" | "lost" | null;
  readonly params: ScenarioParams;
  /** What the simulation was created with. */
  readonly data: unknown;
  readonly signal: AbortSignal;
  readonly job: Running<RecordPayload>;
}

export type CreateRecord = (record: RecordToCreate) => unknown;

export function runRecord(workshop: Workshop, create: CreateRecord) {
  return async (job: Running<RecordPayload>) => {
    const { simulation, index, segment: number } = job.payload;
    const found = await unspent(() => readSimulation(workshop, simulation));
    if (!found) return job.cancel("there is no such simulation");
    const { sim, params } = found;
    if (sim.status === "aborted") return job.cancel("the simulation was aborted");
    const { book, logger } = workshop;
    const timeline = book.timeline(sim);
    const segment = timeline.segment(number);
    const chance = new RecordChance(simulation, index);
    const made = await job.step("create", async () => {
      const isWon = sim.deals ? chance.isDealWon(params.winRate) : null;
      const record = await create({
        ...{ simulation, index, params, data: sim.data, job, signal: job.signal },
        externalKey: recordKey(simulation, index),
        dueAt: new Date(timeline.at(index)),
        deal: isWon === null ? null : isWon ? "won" : "lost",
      });
      return { record: record ?? null, isWon };
    });
    const entry = await unspent(async () => {
      const wanted = chance.wanted(params, await workshop.gauge.factor());
      const { budgets } = params;
      const noted = await book.note(sim, segment, { index, wanted, budgets, won: made.isWon });
      if (wanted.after < wanted.before) {
        const factor = await workshop.gauge.factor();
        logger.info("activity thinning applied", {
          ...{ simulation, index, before: wanted.before, after: wanted.after, factor },
        });
        await noteThinning(workshop, sim, { ...wanted, factor });
      }
      const isEnd = noted.isLast && (await book.chunkDone(sim, segment, [chunkOf(index, segment)]));
      if (isEnd) await expandNext(workshop, sim, segment.number);
      // A replay after its segment was counted: it is counted again.
      else if ((await book.segment(simulation, number))?.status === "complete") {
        await book.recount(sim, segment);
      }
      return noted.entry;
    });
    const activities = await spawnActivities(workshop, { sim, params, entry, job }, made.record);
    logger.debug("job completed", {
      ...{ simulation, index, segment: number, jobId: job.id, activities },
    });
    return { record: made.record, activities };
  };
}

/** Stored with this job's success. What is there already is dropped by its key. */
async function spawnActivities(
  { jobs }: Workshop,
  of: {
    readonly sim: SimulationRecord;
    readonly params: ScenarioParams;
    readonly entry: Entry;
    readonly job: Running<RecordPayload>;
  },
  record: unknown,
): Promise<number> {
  const { sim, params, entry, job } = of;
  const { index, segment } = job.payload;
  const chance = new RecordChance(sim.id, index);
  let count = 0;
  for (const [at, type] of ACTIVITIES.entries()) {
    for (const ordinal of ordinalsOf(entry.made?.[at] ?? 0)) {
      count += 1;
      const payload = { simulation: sim.id, index, segment, type, ordinal, record };
      await job.spawn(jobs.activity, payload, {
        ...{ queue: secondaryQueue(type), group: sim.id, tags: [tags.simulation(sim.id)] },
        idempotencyKey: jobKeys.activity(sim.id, index, type, ordinal),
        delayMs: chance.delayMs(at, ordinal, params.delaysMs[type]),
      });
    }
  }
  return count;
}
