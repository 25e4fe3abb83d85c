/**
 * Dead jobs that are alike. Each queue keeps how many of its dead jobs have a word (lua/places.lua); here the
 * queues are added up, and of the largest counts the first and the last job are asked for.
 */
import { COUNTED_TO } from "../../core/line.ts";
import type { DeadCount, DeadCountRequest, DeadKey } from "../../core/store.ts";
import { eachAtOnce } from "./each-at-once.ts";
import type { Looking } from "./job-view.ts";
import { list, number, numberOrNull, rows, text } from "./reply.ts";

const LETTERS: Readonly<Record<DeadKey, string>> = {
  ...{ fingerprint: "f", category: "c", type: "t", group: "g", queue: "q" },
};
/** Of one queue; a queue with more different words has the largest of them counted. */
const MOST_WORDS = 10_000;

interface Tally {
  readonly key: string | null;
  count: number;
  readonly parts: { readonly queue: string; readonly word: string }[];
}

export async function countDead(
  looking: Looking,
  { by, queue, limit }: DeadCountRequest,
): Promise<DeadCount[]> {
  if (limit <= 0) return [];
  const names = queue === undefined ? await looking.queues.all() : [queue];
  const tallies = [...(await tally(looking, names, by)).values()]
    .map((one) => ({ ...one, count: Math.min(one.count, COUNTED_TO) }))
    .sort((a, b) => b.count - a.count || ((a.key ?? "") < (b.key ?? "") ? -1 : 1))
    .slice(0, limit);
  const counts = tallies.map(async (one) => withEnds(looking, one, by));
  return (await Promise.all(counts)).filter((one) => one !== null);
}

async function tally(
  { server }: Looking,
  names: readonly string[],
  by: DeadKey,
): Promise<ReadonlyMap<string, Tally>> {
  const tallies = new Map<string, Tally>();
  for (const some of server.inTurns(names)) {
    await eachAtOnce(some, async (slot) => {
      const args = [LETTERS[by], MOST_WORDS];
      const reply = list(await server.onQueues("dead-words", slot, args));
      for (const [index, words] of rows(reply, 2)) {
        const queue = slot[number(index) - 1] ?? "";
        for (const [word, count] of rows(list(words), 2)) add(queue, text(word), number(count));
      }
    });
  }
  return tallies;

  function add(queue: string, word: string, count: number): void {
    const name = by === "queue" ? `+${queue}` : word;
    const key = name === "-" ? null : name.slice(1);
    const one = tallies.get(name) ?? { key, count: 0, parts: [] };
    one.count += count;
    one.parts.push({ queue, word });
    tallies.set(name, one);
  }
}

/** Null: they have gone meanwhile. */
async function withEnds(
  { server }: Looking,
  { key, count, parts }: Tally,
  by: DeadKey,
): Promise<DeadCount | null> {
  const ends: { readonly firstAt: number; readonly lastAt: number; readonly example: string }[] =
    [];
  await eachAtOnce(server.slots(parts.map(({ queue }) => queue)), async (slot) => {
    const own = parts.filter(({ queue }) => slot.includes(queue));
    const asked = own.flatMap(({ queue, word }) => [slot.indexOf(queue) + 1, word]);
    const reply = list(await server.onQueues("dead-ends", slot, [LETTERS[by], ...asked]));
    for (const [first, last, id] of rows(reply, 3)) {
      const [firstAt, lastAt] = [numberOrNull(first), numberOrNull(last)];
      if (firstAt !== null && lastAt !== null) ends.push({ firstAt, lastAt, example: text(id) });
    }
  });
  const [newest] = ends.toSorted((a, b) => b.lastAt - a.lastAt);
  if (newest === undefined) return null;
  const firstAt = Math.min(...ends.map((end) => end.firstAt));
  return { key, count, firstAt, lastAt: newest.lastAt, example: newest.example };
}
