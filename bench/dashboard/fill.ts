/** A store as it is after a few busy days: jobs of every status, most of them over, and lines of many groups. */
import { Holdfast, type Store } from "holdfast";
import { adoptPast } from "../adopt-past.ts";
import { JOB_TYPE, payloadOf } from "../payload.ts";
import { QUIET, TENANTS } from "./names.ts";

/** Of all jobs; what is left is ready. */
const SHARES = { succeeded: 0.6, dead: 0.1, cancelled: 0.05, delayed: 0.1 };
const MOST_GROUPS = 10_000;
const QUEUES = 20;
const FAULTS = 200;
const PER_CALL = 2_000;
const A_DAY_MS = 86_400_000;

export interface Filled {
  readonly jobs: number;
  readonly groups: number;
  readonly queues: number;
}

export async function fillStore(store: Store, jobs: number): Promise<Filled> {
  const hf = new Holdfast({ store, logger: QUIET });
  const count = (status: keyof typeof SHARES) => Math.round(jobs * SHARES[status]);
  const delayed = count("delayed");
  const ready = jobs - count("succeeded") - count("dead") - count("cancelled") - delayed;
  const groups = Math.min(MOST_GROUPS, ready);
  const groupOf = (index: number) => `tenant-${index % groups}`;
  try {
    for (const status of ["succeeded", "cancelled", "dead"] as const) {
      await adoptPast(store, {
        ...{ status, count: count(status), groupOf, faults: status === "dead" ? FAULTS : 0 },
        queueOf: (index) => `queue-${index % QUEUES}`,
      });
    }
    await put(hf, delayed, (index) => ({ group: groupOf(index), delayMs: A_DAY_MS }));
    await put(hf, ready, (index) => ({ group: groupOf(index) }));
    await furnish(hf);
  } finally {
    await hf.close();
  }
  return { jobs, groups, queues: QUEUES + 1 };
}

async function put(
  hf: Holdfast,
  count: number,
  optionsOf: (index: number) => { readonly group: string; readonly delayMs?: number },
): Promise<void> {
  for (let from = 0; from < count; from += PER_CALL) {
    const items = Array.from({ length: Math.min(PER_CALL, count - from) }, (_, at) => ({
      ...{ type: JOB_TYPE, payload: payloadOf(from + at), queue: TENANTS },
      ...optionsOf(from + at),
    }));
    const refused = (await hf.enqueueAll(items)).find(({ status }) => status !== "added");
    if (refused) throw new Error(`a job was not added but ${refused.status}`);
  }
}

/** So that no page is empty. */
async function furnish(hf: Holdfast): Promise<void> {
  for (let at = 0; at < 20; at += 1) {
    const breaker = { failures: 1_000, withinMs: 60_000, openMs: 30_000 };
    await hf.gates.set(`gate-${at}`, { queue: `queue-${at}`, breaker });
    await hf.schedules.set(`schedule-${at}`, {
      cron: `${at} 4 * * *`,
      job: { type: JOB_TYPE, payload: payloadOf(at), queue: "queue-0" },
    });
  }
  await hf.pause("queue-1", { by: "bench", reason: "so that one queue is held" });
}
