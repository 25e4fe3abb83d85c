/** Fills a store with jobs, as a scenario wants to find it. */
import type { Store } from "../packages/holdfast/src/index.ts";
import { adoptPast } from "./adopt-past.ts";
import { QUEUE } from "./contenders/holdfast.ts";
import { pieces } from "./contenders/peer-packages.ts";
import type { BulkOptions, Session } from "./contender.ts";
import type { PastClock } from "./past-clock.ts";
import { payloadsOf } from "./payload.ts";
import type { Prefill } from "./scenario.ts";
import { seededRandom } from "../packages/holdfast/src/testing/seeded-random.ts";

const PER_CALL = 2_000;
const HOLDS_PER_CALL = 200;
const CALLS_AT_ONCE = 2;
const A_DAY_MS = 86_400_000;

/** `clock`: the store's, if it is behind while its past is put into it. */
export async function fill(
  session: Session,
  prefill: Prefill,
  clock: PastClock | null = null,
): Promise<void> {
  const { ready, groups = 0, perGroup, held, delayed = 0, finished = 0 } = prefill;
  await fillPast(session, prefill);
  if (clock) await clock.catchUp(storeOf(session));
  if (finished > 0) await finish(session, finished);
  await put(session, delayed, { delayMs: A_DAY_MS });
  if (held) await fillHeld(session, held);
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

/** What is over and came from elsewhere: in other queues, and in this one. */
async function fillPast(session: Session, { queues = 0, past }: Prefill): Promise<void> {
  if (queues === 0 && !past) return;
  const store = storeOf(session);
  const queueOf = (index: number) => `other-${index}`;
  await adoptPast(store, { status: "succeeded", count: queues, queueOf });
  const ours = { queueOf: () => QUEUE };
  const { dead = 0, faults } = past ?? {};
  await adoptPast(store, { status: "dead", count: dead, faults, ...ours });
  await adoptPast(store, { status: "succeeded", count: past?.newer ?? 0, ...ours });
}

async function fillHeld(
  session: Session,
  { jobs, lines }: NonNullable<Prefill["held"]>,
): Promise<void> {
  const store = storeOf(session);
  await put(session, jobs, { groupOf: (index) => `held-${index % lines}` });
  const hold = { forMs: null, reason: "benchmark", by: null };
  const changes = Array.from({ length: lines }, (_, line) => ({
    ...{ queue: QUEUE, group: `held-${line}`, owner: "benchmark", hold },
  }));
  for (const piece of pieces(changes, HOLDS_PER_CALL)) await store.hold(piece);
}

function storeOf({ store }: Session): Store {
  if (!store) throw new Error("only Holdfast can be filled like this");
  return store;
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

/** Here `groupOf` counts all of them, not those of one call. */
async function put(session: Session, count: number, options: BulkOptions): Promise<void> {
  const { groupOf } = options;
  let from = 0;
  const caller = async (): Promise<void> => {
    while (from < count) {
      const first = from;
      from += PER_CALL;
      const payloads = payloadsOf(first, Math.min(PER_CALL, count - first));
      const ofAll = groupOf && ((at: number) => groupOf(first + at));
      await session.enqueueAll(payloads, { ...options, groupOf: ofAll });
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, caller));
}
