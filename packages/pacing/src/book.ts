/**
 * The book of a simulation: which records are done, what they brought with them, what is left of the budgets,
 * which segments are complete. The rules are pure (`chunk.ts`, `budget.ts`, `frontier.ts`, `segment-record.ts`);
 * here they meet the store.
 */
import type { Holdfast } from "holdfast";
import { forget, giveBack, grant, NEW_BUDGET, seal, take, type Budget } from "./budget.ts";
import {
  chunkOf,
  chunksOf,
  isComplete,
  NEW_CHUNK,
  note,
  noteDead,
  noteRun,
  type Chunk,
  type Entry,
  type Noting,
} from "./chunk.ts";
import { claim, close, type Claim, type Frontier } from "./frontier.ts";
import { recordKeys } from "./names.ts";
import { MAX_DURATION_MS } from "./option-checks.ts";
import { isAway, pause, RecordsDesk, type Change } from "./records-desk.ts";
import { ACTIVITIES, type ScenarioParams } from "./scenario.ts";
import {
  addChunks,
  addTotals,
  NEW_SEGMENT,
  NO_TOTALS,
  totalsOf,
  type SegmentRecord,
  type Totals,
} from "./segment-record.ts";
import type { SimulationRecord } from "./simulation.ts";
import { Timeline, type Segment } from "./timeline.ts";

type Sim = Pick<SimulationRecord, "id" | "plan">;

/** Timelines that a process remembers: their curves cost something to make. */
const MOST_TIMELINES = 200;
const ORDER: readonly SegmentRecord["status"][] = ["expanding", "expanded", "complete"];
/** What is kept of a simulation after its end: late activities and replays still find it. */
const KEPT_MS = 90 * 86_400_000;
/** Chunks that hold grants: more than one segment has, and few enough for one record of the store. */
const MOST_OUT = 500;
/** Of a budget whose fate is not known: the store is read and takes no change, so it is away. */
const TRIES = 4;

export class Book {
  readonly desk: RecordsDesk;
  readonly #records: Holdfast["records"];
  readonly #timelines = new Map<string, { readonly plan: string; readonly timeline: Timeline }>();
  /** Grants of this process, one after the other for each simulation. */
  readonly #grants = new Map<string, Promise<unknown>>();

  readonly #hf: Pick<Holdfast, "records" | "storeTime">;

  constructor(hf: Pick<Holdfast, "records" | "storeTime">) {
    const { records } = hf;
    this.#hf = hf;
    this.#records = records;
    this.desk = new RecordsDesk(records);
  }

  timeline({ id, plan }: Sim): Timeline {
    const text = JSON.stringify(plan);
    const known = this.#timelines.get(id);
    if (known?.plan === text) return known.timeline;
    const timeline = new Timeline(plan);
    this.#timelines.delete(id);
    this.#timelines.set(id, { plan: text, timeline });
    const [oldest] = this.#timelines.keys();
    if (this.#timelines.size > MOST_TIMELINES && oldest !== undefined) {
      this.#timelines.delete(oldest);
    }
    return timeline;
  }

  /** Null: it is not noted. */
  async entry(sim: Sim, segment: Segment, index: number): Promise<Entry | null> {
    const chunk = await this.desk.read<Chunk>(chunkKey(sim, segment, chunkOf(index, segment)));
    return chunk?.entries[index] ?? null;
  }

  /** Notes that a record is there, and reserves what it brings. The first to note it decides. */
  async note(
    sim: Sim,
    segment: Segment,
    noting: Omit<Noting, "isPoor"> & { readonly budgets: ScenarioParams["budgets"] },
  ): Promise<{ readonly entry: Entry; readonly isLast: boolean }> {
    const limits = ACTIVITIES.map((type) => noting.budgets[type] ?? Infinity);
    const chunk = chunkOf(noting.index, segment);
    const key = chunkKey(sim, segment, chunk);
    for (let isPoor = false, isCrowded = false; ;) {
      const [answer, isFull] = await this.#change<
        Chunk,
        readonly [ReturnType<typeof note>[1], boolean]
      >(sim, key, NEW_CHUNK, (state) => {
        const [after, result] = note(state, { ...noting, isPoor });
        return [after, [result, isComplete(after, chunk, segment)]];
      });
      if (answer.entry === null) {
        const out = await this.#grant(sim, key, { missing: answer.missing, limits });
        [isPoor, isCrowded] = [out === 0, out > MOST_OUT];
        continue;
      }
      // Where segments overlap, not all of their chunks can have something in hand: this one has what it needs.
      if (isCrowded && !isFull) await this.#settle(sim, key);
      return { entry: answer.entry, isLast: isFull };
    }
  }

  /** False: it was done before, or is not known. */
  noteRun(
    sim: Sim,
    segment: Segment,
    ran: { readonly index: number; readonly type: number; readonly ordinal: number },
  ): Promise<boolean> {
    const key = chunkKey(sim, segment, chunkOf(ran.index, segment));
    return this.#change(sim, key, NEW_CHUNK, (state) => noteRun(state, ran));
  }

  /** Their jobs are dead: they are finished, and what they had reserved is free. Answers full chunks. */
  async noteDead(sim: Sim, segment: Segment, indexes: readonly number[]): Promise<void> {
    const byChunk = new Map<number, number[]>();
    for (const index of indexes) {
      const chunk = chunkOf(index, segment);
      byChunk.set(chunk, [...(byChunk.get(chunk) ?? []), index]);
    }
    for (const [chunk, dead] of byChunk) {
      const key = chunkKey(sim, segment, chunk);
      // What is to be given back must be known there as something that is out.
      await this.#reopen(sim, key);
      const isFull = await this.#change<Chunk, boolean>(sim, key, NEW_CHUNK, (state) => {
        const after = noteDead(state, dead);
        return [after === state ? state : seal(after), isComplete(after, chunk, segment)];
      });
      await this.#giveBack(sim, key);
      if (isFull) await this.chunkDone(sim, segment, [chunk]);
    }
  }

  /** These chunks are full. True: with them the segment is complete, and this call made it so. */
  async chunkDone(sim: Sim, segment: Segment, chunks: readonly number[]): Promise<boolean> {
    for (const chunk of chunks) await this.#settle(sim, chunkKey(sim, segment, chunk));
    const key = recordKeys.segment(sim.id, segment.number);
    const state = await this.#change<SegmentRecord, SegmentRecord>(
      sim,
      key,
      NEW_SEGMENT,
      (before) => {
        const after = addChunks(before, chunks);
        return [after, after];
      },
    );
    return state.chunks.length >= chunksOf(segment) && (await this.complete(sim, segment));
  }

  /** Its totals are counted before anyone hears of its end. True: it was not complete before. */
  async complete(sim: Sim, segment: Segment): Promise<boolean> {
    await this.summarize(sim, segment, "complete");
    return this.desk.update<Frontier, boolean>(recordKeys.frontier(sim.id), (before) =>
      kept(before, close(before, segment.number)),
    );
  }

  claim(id: string, segment: number, isEmpty: boolean): Promise<Claim> {
    return this.desk.update<Frontier, Claim>(recordKeys.frontier(id), (before) =>
      kept(before, claim(before, segment, isEmpty)),
    );
  }

  frontier(id: string): Promise<Frontier | null> {
    return this.desk.read<Frontier>(recordKeys.frontier(id));
  }

  segment(id: string, segment: number): Promise<SegmentRecord | null> {
    return this.desk.read<SegmentRecord>(recordKeys.segment(id, segment));
  }

  /** Counts a segment and notes the result; again, it notes the newer one. */
  async summarize(sim: Sim, segment: Segment, status: SegmentRecord["status"] | null) {
    const totals = await this.totals(sim, segment);
    const now = (await this.#hf.storeTime()).getTime();
    const key = recordKeys.segment(sim.id, segment.number);
    await this.#change<SegmentRecord, null>(sim, key, NEW_SEGMENT, (before) => {
      const isFurther = status !== null && ORDER.indexOf(status) > ORDER.indexOf(before.status);
      const next = isFurther ? status : before.status;
      if (next === before.status && isSame(before.totals, totals)) return [before, null];
      const completedAt = before.completedAt ?? (next === "complete" ? now : null);
      const expandedAt = before.expandedAt ?? (next === "expanding" ? null : now);
      return [{ ...before, status: next, totals, completedAt, expandedAt }, null];
    });
    return totals;
  }

  /** Something was noted after its totals were: they are counted again, and so is what was added up from them. */
  async recount(sim: Sim, segment: Segment): Promise<void> {
    await this.summarize(sim, segment, null);
    await this.desk.update<object, null>(recordKeys.progress(sim.id), () => [null, null]);
  }

  async totals(sim: Sim, segment: Segment): Promise<Totals> {
    const chunks = await this.#chunks(sim, segment);
    return chunks.reduce((sum, chunk) => addTotals(sum, totalsOf(chunk)), NO_TOTALS);
  }

  /** Which records of a segment are neither done nor dead, at most `limit`; and which chunks are full. */
  async unfinished(sim: Sim, segment: Segment, limit: number) {
    const chunks = await this.#chunks(sim, segment);
    const open: number[] = [];
    for (
      let index = segment.firstIdx;
      index <= segment.lastIdx && open.length < limit;
      index += 1
    ) {
      if (!chunks[chunkOf(index, segment)]!.entries[index]) open.push(index);
    }
    const full = chunks.flatMap((state, chunk) =>
      isComplete(state, chunk, segment) ? [chunk] : [],
    );
    return { open, full };
  }

  async budget(id: string): Promise<Budget> {
    return (await this.desk.read<Budget>(recordKeys.budget(id))) ?? NEW_BUDGET;
  }

  /** What a killed worker left: a grant that no chunk took, a rest that was not given back. */
  async reconcile(sim: Sim): Promise<void> {
    const [{ out }, frontier] = await Promise.all([this.budget(sim.id), this.frontier(sim.id)]);
    for (const [place, { epoch }] of Object.entries(out)) {
      const [segment, number] = place.split("/").map(Number) as [number, number];
      const key = recordKeys.chunk(sim.id, segment, number);
      const chunk = await this.desk.read<Chunk>(key);
      const isOpen = frontier?.open.includes(segment) ?? false;
      if (chunk && chunk.epoch > epoch) await this.#giveBack(sim, key);
      else if (!isOpen) await this.#settle(sim, key);
    }
  }

  /** No more is to be spent by it for now: what is left of its grants goes back. */
  async #settle(sim: Sim, key: string): Promise<void> {
    const out = (await this.budget(sim.id)).out[placeOf(key)];
    if (!out) return;
    await this.#change<Chunk, null>(sim, key, NEW_CHUNK, (state) => {
      const taken = take(state, out);
      // Of one that is spent to the last, only the list of what is out gets shorter.
      return [{ ...taken, epoch: taken.epoch + 1, granted: seal(taken).granted }, null];
    });
    await this.#inTurn(sim, key, (budget, state) => [
      forget(giveBack(budget, placeOf(key), state), placeOf(key), state),
      null,
    ]);
  }

  async #chunks(sim: Sim, segment: Segment): Promise<Chunk[]> {
    const keys = Array.from({ length: chunksOf(segment) }, (_, at) => chunkKey(sim, segment, at));
    const found = await this.desk.readAll<Chunk>(keys);
    return found.map((chunk) => chunk ?? NEW_CHUNK);
  }

  /** Zero: there is nothing more for it; else how many chunks have grants now. */
  async #grant(
    sim: Sim,
    key: string,
    ask: { readonly missing: readonly number[]; readonly limits: readonly number[] },
  ): Promise<number> {
    const [out, count] = await this.#inTurn(sim, key, (budget, state) => {
      const [after, given] = grant(budget, { chunk: placeOf(key), state, ...ask });
      return [after, [given, Object.keys(after.out).length] as const];
    });
    if (out === null) return 0;
    await this.#change<Chunk, null>(sim, key, NEW_CHUNK, (state) => [take(state, out), null]);
    return count;
  }

  async #reopen(sim: Sim, key: string): Promise<void> {
    await this.#inTurn(sim, key, (budget, state) => {
      const hasNone = state.granted.every((count) => count === 0);
      const place = placeOf(key);
      if (budget.out[place] || hasNone) return [budget, null];
      const out = { epoch: state.epoch, may: state.granted };
      return [{ ...budget, out: { ...budget.out, [place]: out } }, null];
    });
  }

  async #giveBack(sim: Sim, key: string): Promise<void> {
    await this.#inTurn(sim, key, (budget, state) => [giveBack(budget, placeOf(key), state), null]);
  }

  /**
   * Changes the budget by what a chunk is. The chunk is read after the budget, each time: if the budget has not
   * changed until it is written, nothing was given back meanwhile, so what the chunk said still holds.
   */
  #inTurn<Answer>(
    sim: Sim,
    key: string,
    change: (budget: Budget, state: Chunk) => readonly [Budget, Answer],
  ): Promise<Answer> {
    const before = this.#grants.get(sim.id) ?? Promise.resolve();
    const turn = before.then(() => this.#changeBudget(sim, key, change));
    const quiet = turn.catch(() => {});
    this.#grants.set(sim.id, quiet);
    void quiet.then(() => {
      if (this.#grants.get(sim.id) === quiet) this.#grants.delete(sim.id);
    });
    return turn;
  }

  async #changeBudget<Answer>(
    sim: Sim,
    key: string,
    change: (budget: Budget, state: Chunk) => readonly [Budget, Answer],
  ): Promise<Answer> {
    const name = recordKeys.budget(sim.id);
    for (let inDoubt = 0; ;) {
      const [found] = await this.#records.read<Budget>([name]);
      const [chunk] = await this.#records.read<Chunk>([key]);
      const budget = found?.value ?? NEW_BUDGET;
      const [after, answer] = change(budget, chunk?.value ?? NEW_CHUNK);
      if (after === budget) return answer;
      const swap = { key: name, expect: found?.version ?? null, value: after, ttlMs: ttlOf(sim) };
      const [result] = await this.#records.swap([swap]).catch((error: unknown) => {
        // Whether it was done is seen by reading: a grant says how much, not how much more.
        inDoubt += 1;
        if (!isAway(error) || inDoubt === TRIES) throw error;
        return pause(inDoubt).then(() => []);
      });
      if (result?.swapped) return answer;
    }
  }

  #change<Value extends object, Answer>(
    sim: Sim,
    key: string,
    fresh: Value,
    change: (state: Value) => readonly [Value, Answer],
  ): Promise<Answer> {
    const onRecord: Change<Value, Answer> = (value) => {
      const state = value ?? fresh;
      const [after, answer] = change(state);
      return [after === state ? value : after, answer];
    };
    return this.desk.update(key, onRecord, ttlOf(sim));
  }
}

function kept<Answer>(
  before: Frontier | null,
  [after, answer]: readonly [Frontier, Answer],
): readonly [Frontier | null, Answer] {
  return [isSame(before, after) ? before : after, answer];
}

function chunkKey({ id }: Sim, segment: Segment, chunk: number): string {
  return recordKeys.chunk(id, segment.number, chunk);
}

/** In the budget a chunk is called by its segment and number: all of its keys are in one record. */
function placeOf(key: string): string {
  return key.split("/").slice(-2).map(Number).join("/");
}

function ttlOf({ plan }: Sim): number {
  const left = plan.end - plan.start + Math.max(0, plan.end - Date.now()) + KEPT_MS;
  return Math.min(MAX_DURATION_MS, left);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
