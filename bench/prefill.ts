/** Fills a store with jobs that wait, as a scenario wants to find it. */
import type { Session } from "./contender.ts";
import { payloadsOf } from "./payload.ts";
import type { Prefill } from "./scenario.ts";

const PER_CALL = 2_000;
const HELD_GROUPS = 10;

export async function fill(
  session: Session,
  { ready, groups = 0, held = 0 }: Prefill,
): Promise<void> {
  await put(session, held, (index) => `held-${index % HELD_GROUPS}`);
  if (held > 0) {
    if (!session.hold) throw new Error("this contender has no groups to hold");
    for (let group = 0; group < HELD_GROUPS; group++) await session.hold(`held-${group}`);
  }
  const random = seededRandom(1);
  await put(
    session,
    ready,
    groups > 0 ? () => `group-${Math.floor(random() * groups)}` : undefined,
  );
}

async function put(
  session: Session,
  count: number,
  groupOf?: (index: number) => string,
): Promise<void> {
  for (let from = 0; from < count; from += PER_CALL) {
    await session.enqueueAll(payloadsOf(from, Math.min(PER_CALL, count - from)), groupOf);
  }
}

/** Mulberry32: the same groups in every run, in no order that an index could like. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
