/** Fills a store with jobs, as a scenario wants to find it. */
import type { BulkOptions, Session } from "./contender.ts";
import { payloadsOf } from "./payload.ts";
import type { Prefill } from "./scenario.ts";
import { seededRandom } from "../packages/holdfast/src/testing/seeded-random.ts";

const PER_CALL = 2_000;
const CALLS_AT_ONCE = 2;
const HELD_GROUPS = 10;
const A_DAY_MS = 86_400_000;

export async function fill(session: Session, prefill: Prefill): Promise<void> {
  const { ready, groups = 0, perGroup, held = 0, delayed = 0, finished = 0 } = prefill;
  if (finished > 0) await finish(session, finished);
  await put(session, delayed, { delayMs: A_DAY_MS });
  await put(session, held, { groupOf: (index) => `held-${index % HELD_GROUPS}` });
  if (held > 0) {
    if (!session.hold) throw new Error("this contender has no groups to hold");
    for (let group = 0; group < HELD_GROUPS; group++) await session.hold(`held-${group}`);
  }
  if (perGroup !== undefined) {
    if (!session.limitGroups) throw new Error("this contender has no groups to limit");
    await session.limitGroups(perGroup);
  }
  const random = seededRandom(1);
  await put(
    session,
    ready,
    groups > 0 ? { groupOf: () => `group-${Math.floor(random() * groups)}` } : {},
  );
}

/** They are run, as in life; while some run, the next come in. */
async function finish(session: Session, count: number): Promise<void> {
  let started = 0;
  let allStarted: () => void = () => {};
  const done = new Promise<void>((resolve) => (allStarted = resolve));
  const stop = await session.run(() => void (++started === count && allStarted()));
  await put(session, count, {});
  await done;
  await stop();
}

async function put(session: Session, count: number, options: BulkOptions): Promise<void> {
  let from = 0;
  const caller = async (): Promise<void> => {
    while (from < count) {
      const payloads = payloadsOf(from, Math.min(PER_CALL, count - from));
      from += PER_CALL;
      await session.enqueueAll(payloads, options);
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, caller));
}
