import { Holdfast, StoreUnavailableError } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Book } from "./book.ts";
import { recordKeys } from "./names.ts";

const HOUR = 3_600_000;
const NONE = { note: null, call: null, task: null, ticket: null };
const SEGMENTS = 2;
/** So many records have a segment's greatest number of chunks, each a record in the first so many. */
const [RECORDS, CHUNKS] = [25_600, 400] as const;

let hf: Holdfast;
beforeEach(() => {
  hf = new Holdfast({ store: memoryStore() }) as Holdfast;
});
afterEach(() => hf.close());

function simulation() {
  const start = Date.now();
  const plan = {
    ...{ start, end: start + SEGMENTS * HOUR, count: SEGMENTS * RECORDS, segmentMs: HOUR },
    ...{ distribution: { shape: "uniform" } as const, seed: "book" },
  };
  return { id: "0199e1c6-0f7a-7000-8000-000000000000", plan };
}

const noting = (index: number) => ({
  ...{ index, won: null, budgets: NONE },
  wanted: { masks: [1, 0, 0, 0], before: 1, after: 1 },
});

it("the grants of segments that overlap stay within one record of the store, and are counted exactly", async () => {
  const book = new Book(hf);
  const sim = simulation();
  const timeline = book.timeline(sim);
  for (let number = 0; number < SEGMENTS; number += 1) {
    const segment = timeline.segment(number);
    const first = Array.from({ length: CHUNKS }, (_, at) => segment.firstIdx + at);
    await Promise.all(first.map((index) => book.note(sim, segment, noting(index))));
  }
  const { out, granted } = await book.budget(sim.id);
  const found = await hf.records.get(recordKeys.budget(sim.id));
  expect(Buffer.byteLength(JSON.stringify(found?.value))).toBeLessThan(48 * 1024);
  const held = Object.values(out).reduce((sum, { may }) => sum + may[0]!, 0);
  // Of a chunk that is not in the list nothing is out: it has spent one.
  expect(granted[0]).toBe(held + SEGMENTS * CHUNKS - Object.keys(out).length);
});

it("a budget that is read and cannot be changed is a store that is away", async () => {
  const { records } = hf;
  let tries = 0;
  const swap = async (swaps: Parameters<typeof records.swap>[0]) => {
    if (!swaps.some(({ key }) => key.startsWith("pacing/budget/"))) return records.swap(swaps);
    tries += 1;
    if (tries > 20) return records.swap(swaps);
    throw new StoreUnavailableError("it is a replica", { mayHaveHappened: false });
  };
  const read = records.read.bind(records);
  const storeTime = hf.storeTime.bind(hf);
  const book = new Book({ records: { read, swap } as unknown as typeof records, storeTime });
  const sim = simulation();
  const note = book.note(sim, book.timeline(sim).segment(0), noting(0));
  await expect(note).rejects.toThrow(StoreUnavailableError);
  expect(tries).toBe(4);
});
