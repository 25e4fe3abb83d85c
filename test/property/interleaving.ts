/**
 * Random interleavings: two or three callers at once, each through its own Store object. Which call
 * comes first is for the store to decide, but there must be *some* order, one call after another, that
 * explains every answer and everything that can be seen afterwards. A job leased twice, a cap that was
 * overrun, two jobs for one key, a lost write: no order explains those.
 *
 * The order is looked for on the memory store: the ones that keep calls that did not overlap in their
 * order are tried, each on a copy that has followed everything so far. The first that fits is taken:
 * orders that fit alike are alike in all that can be seen.
 */
import type { Change } from "../../packages/holdfast/src/core/store.ts";
import type { StorePlace } from "../../packages/holdfast/src/testing/conformance/index.ts";
import { drawSingleOperation } from "./draw-operations.ts";
import type { Draw } from "./draw.ts";
import type { Dump } from "./dump.ts";
import { FailedStep } from "./failed-step.ts";
import type { Arbitrary } from "./fast-check.ts";
import { Names } from "./names.ts";
import type { Operation } from "./operation.ts";
import { Oracle, type Done, type OracleSettings } from "./oracle.ts";
import { Subject, type Performed } from "./subject.ts";

/** What happens at once: the n-th operation is the turn of caller n modulo the number of callers. */
export interface Bout {
  /** The clock goes on before; it stands still while they call. */
  readonly afterMs: number;
  readonly operations: readonly Operation[];
}

const LONGEST = 16;

export function drawInterleaving(draw: Draw, callers: number): Arbitrary<Bout[]> {
  const bout = draw.record<Bout>({
    afterMs: draw.from([0, 0, 1, 10, 1_000, 60_000]),
    operations: draw.some(drawSingleOperation(draw), callers + 2),
  });
  return draw.fc.array(bout, { minLength: 1, maxLength: LONGEST, size: "max" });
}

export async function playInterleaving(
  bouts: readonly Bout[],
  place: StorePlace,
  callers: number,
): Promise<void> {
  const subject = await Subject.open(place);
  try {
    const { now, info } = subject;
    const story = new Story({ now, info, alone: false });
    const names = new Names();
    for (const [index, { afterMs, operations }] of bouts.entries()) {
      await FailedStep.at(index, async () => {
        const pause = await subject.perform({ verb: "advance", ms: afterMs }, 0);
        const calls = await allAtOnce(subject, names.resolve(operations), callers);
        const order = await story.explain(pause, calls, await subject.dump());
        for (const { learn } of order) learn(subject.book);
      });
    }
  } finally {
    await subject.close();
  }
}

interface TimedCall extends Performed {
  /** Ticks of one counter for all calls: one that ended before another began comes before it. */
  readonly began: number;
  readonly ended: number;
}

async function allAtOnce(
  subject: Subject,
  operations: readonly Operation[],
  callers: number,
): Promise<TimedCall[]> {
  const calls: TimedCall[] = [];
  let tick = 0;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      const own = operations.filter((_operation, index) => index % callers === caller);
      for (const operation of own) {
        const began = ++tick;
        const performed = await subject.perform(operation, caller);
        calls.push({ ...performed, began, ended: ++tick });
      }
    }),
  );
  return calls;
}

/** Everything so far, in an order that explains it. */
class Story {
  readonly #settings: OracleSettings;
  readonly #sofar: (readonly Done[])[] = [];
  /** Has followed all of it; null if it went astray. */
  #oracle: Oracle | null = null;

  constructor(settings: OracleSettings) {
    this.#settings = settings;
  }

  /**
   * Where a store numbers a job before others can see it, a read may miss a job that stands before one that was
   * acknowledged already. Which of two jobs inserted at once comes first is the store's to say, so such reads are
   * left out of the second try, and so is a change that found none of its jobs.
   */
  async explain(pause: Done, calls: readonly TimedCall[], dump: Dump): Promise<TimedCall[]> {
    const sure = calls.filter((call) => !mayMissAnInsert(call, calls));
    try {
      return await this.#explain(pause, calls, dump);
    } catch (trouble) {
      if (sure.length === calls.length) throw trouble;
      return this.#explain(pause, sure, dump);
    }
  }

  async #explain(pause: Done, calls: readonly TimedCall[], dump: Dump): Promise<TimedCall[]> {
    let nearest: { readonly trouble: unknown; readonly isFollowed: boolean } | null = null;
    for (const order of ordersOf(calls)) {
      const oracle = this.#oracle ?? (await this.#tellAgain());
      this.#oracle = null;
      let isFollowed = false;
      try {
        await oracle.follow([pause, ...order]);
        isFollowed = true;
        await oracle.mustLookLike(dump);
      } catch (trouble) {
        if (nearest === null || (isFollowed && !nearest.isFollowed))
          nearest = { trouble, isFollowed };
        continue;
      }
      this.#oracle = oracle;
      this.#sofar.push([pause, ...order]);
      return order;
    }
    const why = nearest?.trouble instanceof Error ? nearest.trouble.message : "there is none";
    throw new Error(`no order of the last calls explains what came of them; nearest is: ${why}`);
  }

  async #tellAgain(): Promise<Oracle> {
    const oracle = await Oracle.open(this.#settings);
    for (const bout of this.#sofar) await oracle.follow(bout);
    return oracle;
  }
}

const READS = new Set(["get", "place", "find", "count", "countDead", "lines"]);

function mayMissAnInsert(call: TimedCall, calls: readonly TimedCall[]): boolean {
  const { operation, began, ended } = call;
  const isMeanwhile = (other: TimedCall) =>
    other.operation.verb === "insert" && other.began < ended && other.ended > began;
  return (READS.has(operation.verb) || foundNothing(call)) && calls.some(isMeanwhile);
}

/** It was to change jobs, and there were none: so it was no more than a read. */
function foundNothing({ answer }: TimedCall): boolean {
  const { changes } = Object(answer) as { readonly changes?: readonly Change[] };
  return changes?.every(({ result }) => result === "missing") === true;
}

/** Every order in which a call comes after those that had ended when it began. */
function* ordersOf(calls: readonly TimedCall[]): Generator<TimedCall[]> {
  if (calls.length === 0) yield [];
  for (const first of calls) {
    const rest = calls.filter((call) => call !== first);
    if (rest.some((call) => call.ended < first.began)) continue;
    for (const order of ordersOf(rest)) yield [first, ...order];
  }
}
