/** The arguments of lua/settle.lua. */
import type { NewJob } from "../../core/job.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Settlement } from "../../core/store.ts";
import { entryArgs, failureText, flag, riderArgs } from "./args.ts";
import type { Arg } from "./client-like.ts";
import { categoryNumber } from "./header.ts";
import { newJobArgs } from "./new-job-args.ts";
import { entriesItem, jobsItem } from "./outbox.ts";

const NONE: readonly never[] = [];

/** The spawned jobs that this settlement's own script can store. */
export function spawnedHere(
  { queue, spawn = NONE }: Settlement,
  isCluster: boolean,
): readonly NewJob[] {
  return isCluster ? spawn.filter((child) => child.queue === queue) : spawn;
}

/**
 * What many settlements of a call have in common is sent once, as a form, and each names its form by
 * number: jobs that were leased together mostly have one fence, and end alike.
 */
export function settlementArgs(
  batch: readonly Settlement[],
  queues: readonly string[],
  isCluster: boolean,
): Arg[] {
  const forms = new Map<string, number>();
  const formArgs: Arg[] = [];
  const runs = new SettlementRuns();
  let last: Settlement | null = null;
  let number = 0;
  for (const settlement of batch) {
    if (last !== null && isBareLike(last, settlement)) {
      runs.addBare(number, settlement.id);
      continue;
    }
    last = settlement;
    const { id, queue, fence, outcome, discard = false } = settlement;
    const failure = "failure" in outcome ? outcome.failure : null;
    const text = textOf(outcome);
    const entries = entriesArgs(settlement, queues, isCluster);
    const form = [
      ...[queues.indexOf(queue) + 1, fence, ...kindArgs(outcome)],
      ...[categoryNumber(failure?.category), flag(discard), flag(text !== null)],
      ...[flag(failure !== null), flag(entries.length > 0)],
    ];
    const name = form.join(" ");
    number = forms.get(name) ?? forms.size + 1;
    if (number > forms.size) {
      forms.set(name, number);
      formArgs.push(...form);
    }
    const brought = [
      ...(text === null ? NONE : [text]),
      ...(failure === null ? NONE : [failureText(failure)]),
      ...entries,
    ];
    if (brought.length === 0) runs.addBare(number, id);
    else runs.add(number, id, brought);
  }
  return [forms.size, ...formArgs, ...runs.args()];
}

/** Nearly all succeed like the one before and bring nothing: to be sure of it without making a form. */
function isBareLike(last: Settlement, settlement: Settlement): boolean {
  const { queue, fence, outcome, discard = false } = settlement;
  const [one, other] = [last.outcome, outcome];
  return (
    one.kind === "succeed" &&
    other.kind === "succeed" &&
    one.result === null &&
    other.result === null &&
    one.resultDropped === other.resultDropped &&
    last.fence === fence &&
    last.queue === queue &&
    (last.discard ?? false) === discard &&
    isWithoutLuggage(last) &&
    isWithoutLuggage(settlement)
  );
}

function isWithoutLuggage({ updates, spawn, entries, outbox }: Settlement): boolean {
  if (updates !== undefined) return false;
  return !(spawn?.length || entries?.length || outbox?.length);
}

/**
 * Settlements that follow one another and are of one form: its number, how many, and the items. Those
 * that bring nothing are their ids in one text, behind the size of an id.
 */
class SettlementRuns {
  readonly #args: Arg[] = [];
  #form = 0;
  #countAt = 0;
  #ids: string[] = [];

  /** Either every settlement of a form brings something, or none does. */
  add(form: number, id: string, brought: readonly Arg[]): void {
    if (form !== this.#form) this.#begin(form);
    this.#args[this.#countAt] = Number(this.#args[this.#countAt]) + 1;
    this.#args.push(id, ...brought);
  }

  addBare(form: number, id: string): void {
    if (form !== this.#form) this.#begin(form);
    this.#ids.push(id);
  }

  args(): readonly Arg[] {
    this.#begin(0);
    return this.#args;
  }

  #begin(form: number): void {
    this.#writeIds();
    this.#form = form;
    if (form > 0) this.#countAt = this.#args.push(form, 0) - 1;
  }

  #writeIds(): void {
    const ids = this.#ids;
    if (ids.length === 0) return;
    const text = ids.join("");
    const isEven = Buffer.byteLength(text) === ids.length * ID_SIZE && ids.every(isOfIdSize);
    this.#args[this.#countAt] = ids.length;
    // Nobody has made an id of another size; whoever asks for one is told that it is not there.
    if (isEven) this.#args.push(ID_SIZE, text);
    else this.#args.push(0, ...ids);
    this.#ids = [];
  }
}

/** Of a UUID. */
const ID_SIZE = 36;

function isOfIdSize(id: string): boolean {
  return id.length === ID_SIZE;
}

/** Updates, spawned jobs, entries, what is for the outbox; nothing if there is none of them. */
function entriesArgs(
  settlement: Settlement,
  queues: readonly string[],
  isCluster: boolean,
): readonly Arg[] {
  if (isWithoutLuggage(settlement)) return NONE;
  const { queue, updates, spawn = NONE, entries = NONE, outbox = NONE } = settlement;
  const here = spawnedHere(settlement, isCluster);
  const away = isCluster ? spawn.filter((child) => child.queue !== queue) : [];
  const carried = [
    ...(away.length > 0 ? [jobsItem(away)] : []),
    ...(outbox.length > 0 ? [entriesItem(outbox)] : []),
  ];
  return [
    ...riderArgs(updates),
    ...newJobArgs(here, queues),
    ...[entries.length, ...entries.flatMap(entryArgs)],
    ...[carried.length, ...carried],
  ];
}

/** Kind, afterMs, mark; lua/settle.lua says what they mean. */
function kindArgs(outcome: Outcome): [string, number, string] {
  switch (outcome.kind) {
    case "succeed":
      return ["s", 0, flag(outcome.resultDropped)];
    case "retry":
      return ["r", outcome.afterMs, flag(outcome.spend)];
    case "snooze":
      return ["z", outcome.afterMs, flag(false)];
    case "release":
      return ["l", outcome.afterMs, flag(false)];
    case "cancel":
      return ["c", 0, flag(false)];
    case "die":
      return ["d", 0, flag(outcome.ran)];
  }
}

/** The result, or the reason. */
function textOf(outcome: Outcome): string | null {
  if (outcome.kind === "succeed") return outcome.result;
  return outcome.kind === "cancel" || outcome.kind === "die" ? outcome.reason : null;
}
