/**
 * Settling. On one server everything a settlement brings is written in its step, whatever queue it is
 * for. In a cluster the jobs it spawns into other queues are in other slots: they are written into the
 * outbox of its own queue in the same step, and relayed from there.
 */
import type { NewJob } from "../../core/job.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Settlement, SettleResult } from "../../core/store.ts";
import { entryArgs, failureText, flag, riderArgs } from "./args.ts";
import type { Arg } from "./client-like.ts";
import { elsewhere } from "./elsewhere.ts";
import { categoryNumber } from "./header.ts";
import { eachAtOnce } from "./each-at-once.ts";
import type { InsertHow } from "./insert.ts";
import { newJobArgs } from "./new-job-args.ts";
import { entriesItem, jobsItem } from "./outbox.ts";
import { list, text } from "./reply.ts";
import { Runs } from "./runs.ts";
import { named } from "./touched.ts";

/** A settlement may bring a thousand jobs: a script call takes a few of those at most. */
const MOST_ARGS = 20_000;
const MOST = 200;
/** What the script says of a settlement; anything else is: settled. */
const LOST = "0";
const FINISHED = "2";

export async function settle(
  how: InsertHow & { readonly remembersMs: number },
  settlements: readonly Settlement[],
): Promise<SettleResult[]> {
  const { server } = how;
  const names = [...new Set(settlements.map(({ queue }) => queue))];
  const results = new Map<Settlement, SettleResult>();
  await eachAtOnce(server.slots(names), async (slot) => {
    const own = settlements.filter(({ queue }) => slot.includes(queue));
    for (const batch of batches(own)) await settleBatch(how, batch, results);
  });
  return settlements.map((settlement) => results.get(settlement) ?? "lost");
}

async function settleBatch(
  how: InsertHow & { readonly remembersMs: number },
  batch: readonly Settlement[],
  results: Map<Settlement, SettleResult>,
): Promise<void> {
  const { server, queues, touched, remembersMs } = how;
  const spawned = batch.flatMap((settlement) => hereOf(settlement, server.isCluster));
  const targets = [...new Set(spawned.map(({ queue }) => queue))];
  const all = [...new Set([...targets, ...batch.map(({ queue }) => queue)])];
  await queues.list(targets);
  const { inScript } = server.isCluster
    ? { inScript: false }
    : await elsewhere(how, spawned, { isKnown: false });
  const reply = await server.onQueues("settle", all, [
    ...[remembersMs, flag(inScript)],
    ...settlementArgs(batch, all, server.isCluster),
  ]);
  const [made, woken, outcomes] = list(reply);
  touched.wake(woken, all);
  await queues.made(named(made, all));
  const digits = text(outcomes);
  for (const [index, settlement] of batch.entries()) {
    const digit = digits[index];
    results.set(settlement, digit === LOST ? "lost" : "settled");
    if (digit === FINISHED) touched.finished.push(settlement.id);
  }
}

/** The spawned jobs that this settlement's own script can store. */
function hereOf({ queue, spawn = [] }: Settlement, isCluster: boolean): readonly NewJob[] {
  return isCluster ? spawn.filter((child) => child.queue === queue) : spawn;
}

/**
 * What many settlements of a call have in common is sent once, as a form, and each names its form by
 * number: jobs that were leased together mostly have one fence, and end alike.
 */
function settlementArgs(
  batch: readonly Settlement[],
  queues: readonly string[],
  isCluster: boolean,
): Arg[] {
  const forms = new Map<string, number>();
  const formArgs: Arg[] = [];
  const runs = new Runs();
  for (const settlement of batch) {
    const { id, queue, fence, outcome, discard = false } = settlement;
    const failure = "failure" in outcome ? outcome.failure : null;
    const text = textOf(outcome);
    const luggage = luggageArgs(settlement, queues, isCluster);
    const form = [
      ...[queues.indexOf(queue) + 1, fence, ...kindArgs(outcome)],
      ...[categoryNumber(failure?.category), flag(discard), flag(text !== null)],
      ...[flag(failure !== null), flag(luggage.length > 0)],
    ];
    const name = form.join(" ");
    let number = forms.get(name);
    if (number === undefined) {
      number = forms.size + 1;
      forms.set(name, number);
      formArgs.push(...form);
    }
    runs.add(number, id);
    if (text !== null) runs.args.push(text);
    if (failure !== null) runs.args.push(failureText(failure));
    if (luggage.length > 0) runs.args.push(...luggage);
  }
  return [forms.size, ...formArgs, ...runs.args];
}

/** Riders, spawned jobs, entries, what is for the outbox; nothing if there is none of them. */
function luggageArgs(
  settlement: Settlement,
  queues: readonly string[],
  isCluster: boolean,
): readonly Arg[] {
  const { queue, riders, spawn = [], entries = [], outbox = [] } = settlement;
  if (riders === undefined && spawn.length + entries.length + outbox.length === 0) return [];
  const here = hereOf(settlement, isCluster);
  const away = isCluster ? spawn.filter((child) => child.queue !== queue) : [];
  const carried = [
    ...(away.length > 0 ? [jobsItem(away)] : []),
    ...(outbox.length > 0 ? [entriesItem(outbox)] : []),
  ];
  return [
    ...riderArgs(riders),
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

function* batches(settlements: readonly Settlement[]): Generator<readonly Settlement[]> {
  let batch: Settlement[] = [];
  let args = 0;
  for (const settlement of settlements) {
    const { spawn = [], entries = [] } = settlement;
    const own = 20 + 16 * spawn.length + 5 * entries.length;
    if (batch.length === MOST || (batch.length > 0 && args + own > MOST_ARGS)) {
      yield batch;
      [batch, args] = [[], 0];
    }
    batch.push(settlement);
    args += own;
  }
  if (batch.length > 0) yield batch;
}
