/** What was thinned out lately, for people: a bounded list, the exact numbers are in the book. */
import { recordKeys } from "./names.ts";
import type { SimulationRecord } from "./simulation.ts";
import type { Workshop } from "./workshop.ts";

export interface ThinningEvent {
  /** When its first record was thinned; in the same minute and by the same factor, the others are added to it. */
  readonly at: number;
  readonly factor: number;
  readonly records: number;
  readonly before: number;
  readonly after: number;
}

export const MOST_EVENTS = 100;
const MINUTE = 60_000;

export function addEvent(
  events: readonly ThinningEvent[],
  one: Omit<ThinningEvent, "records">,
): ThinningEvent[] {
  const last = events.at(-1);
  const isSame = last && last.factor === one.factor && one.at - last.at < MINUTE;
  if (!isSame) return [...events, { ...one, records: 1 }].slice(-MOST_EVENTS);
  const sum = {
    ...{ ...last, records: last.records + 1 },
    ...{ before: last.before + one.before, after: last.after + one.after },
  };
  return [...events.slice(0, -1), sum];
}

export async function noteThinning(
  { book, hf }: Workshop,
  sim: SimulationRecord,
  { factor, before, after }: { factor: number; before: number; after: number },
): Promise<void> {
  const at = (await hf.storeTime()).getTime();
  const key = recordKeys.thinning(sim.id);
  await book.desk.update<readonly ThinningEvent[], null>(key, (events) => [
    addEvent(events ?? [], { at, factor, before, after }),
    null,
  ]);
}

export async function thinningEvents({ book }: Workshop, id: string) {
  return (await book.desk.read<readonly ThinningEvent[]>(recordKeys.thinning(id))) ?? [];
}
