/** What the routes answer. */
import { z } from "@holdfast/server";

export const instant = z.iso.datetime({ offset: true });
export const count = z.int().min(0);
const counters = z.record(z.string(), count);
const status = z.enum(["created", "running", "paused", "completed", "aborted"]);

export const simulation = z
  .strictObject({
    ...{ id: z.string(), status, start: instant, end: instant, records: count },
    ...{ distribution: z.looseObject({ shape: z.string() }), segmentMs: count, segments: count },
    ...{ policy: z.enum(["strict", "by-time"]), shard: count, queue: z.string(), seed: z.string() },
    deals: z.boolean(),
    params: z.record(z.string(), z.unknown()),
    overrides: z.record(z.string(), z.unknown()),
    ...{ createdAt: instant, startedAt: instant.nullable(), endedAt: instant.nullable() },
    reason: z.string().nullable(),
  })
  .meta({ id: "Simulation" });

const budget = z.strictObject({
  ...{ limit: count.nullable(), reserved: count, spent: count, left: count.nullable() },
});

export const metrics = z
  .strictObject({
    ...{ id: z.string(), status, records_total: count, records_processed: count, counters },
    segments: z.strictObject({
      ...{ total: count, expanded: count, open: z.array(count), complete: count },
    }),
    budgets: z.record(z.string(), budget),
    thinning: z.array(
      z.strictObject({
        ...{ at: count, factor: z.number(), records: count, before: count, after: count },
      }),
    ),
  })
  .meta({ id: "SimulationMetrics" });

export const segments = z.strictObject({
  segments: z.array(
    z.strictObject({
      ...{ number: count, start: count, end: count, count, firstIdx: count, lastIdx: z.int() },
      status: z.enum(["pending", "expanding", "expanded", "complete"]),
      ...{ expandedAt: instant.nullable(), completedAt: instant.nullable() },
      counters: counters.nullable(),
    }),
  ),
  next: count.nullable(),
});

export const curve = z.strictObject({ planned: z.array(count), actual: z.array(count) });

export const deadLetters = z.strictObject({
  ...{ total: count, byCategory: counters, byQueue: counters },
  samples: z.array(
    z.strictObject({
      ...{ id: z.string(), type: z.string(), queue: z.string() },
      ...{ category: z.string().nullable(), message: z.string().nullable() },
    }),
  ),
  records: z.strictObject({ jobs: count, counted: count }),
  ...{ reconciled: z.boolean(), isCut: z.boolean() },
});
