/**
 * Settling. On one server everything a settlement brings is written in its step, whatever queue it is
 * for. In a cluster the jobs it spawns into other queues are in other slots: they are written into the
 * outbox of its own queue in the same step, and relayed from there.
 */
import type { NewJob } from "../../core/job.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Settlement, SettleResult } from "../../core/store.ts";
import { entryArgs, failureText, flag, newJobArgs, optional, riderArgs } from "./args.ts";
import type { Arg } from "./client-like.ts";
import { elsewhere } from "./elsewhere.ts";
import { categoryNumber } from "./header.ts";
import { eachAtOnce } from "./each-at-once.ts";
import type { InsertHow } from "./insert.ts";
import { entriesItem, jobsItem } from "./outbox.ts";
import { list, number, text } from "./reply.ts";
import { named } from "./touched.ts";

/** A settlement may bring a thousand jobs: a script call takes a few of those at most. */
const MOST_ARGS = 20_000;
const MOST = 200;

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
    ...batch.flatMap((settlement) => settlementArgs(settlement, all, server.isCluster)),
  ]);
  const [made, woken, outcomes, finished] = list(reply);
  touched.wake(woken, all);
  touched.finished.push(...list(finished).map(text));
  await queues.made(named(made, all));
  for (const [index, outcome] of list(outcomes).entries()) {
    const settlement = batch[index];
    if (settlement !== undefined)
      results.set(settlement, number(outcome) === 1 ? "settled" : "lost");
  }
}

/** The spawned jobs that this settlement's own script can store. */
function hereOf({ queue, spawn = [] }: Settlement, isCluster: boolean): readonly NewJob[] {
  return isCluster ? spawn.filter((child) => child.queue === queue) : spawn;
}

function settlementArgs(
  settlement: Settlement,
  queues: readonly string[],
  isCluster: boolean,
): Arg[] {
  const { id, queue, fence, outcome, riders, spawn = [], entries = [], outbox = [] } = settlement;
  const here = hereOf(settlement, isCluster);
  const away = isCluster ? spawn.filter((child) => child.queue !== queue) : [];
  const numberOf = (name: string): number => queues.indexOf(name) + 1;
  const carried = [
    ...(away.length > 0 ? [jobsItem(away)] : []),
    ...(outbox.length > 0 ? [entriesItem(outbox)] : []),
  ];
  const head = [
    ...[numberOf(queue), id, fence, ...outcomeArgs(outcome)],
    ...[flag(settlement.discard === true), ...riderArgs(riders)],
  ];
  const luggage = here.length + entries.length + carried.length;
  if (luggage === 0) return [...head, flag(false)];
  return [
    ...[...head, flag(true)],
    ...[here.length, ...here.flatMap((child) => newJobArgs(child, numberOf(child.queue)))],
    ...[entries.length, ...entries.flatMap(entryArgs)],
    ...[carried.length, ...carried],
  ];
}

/** Kind, afterMs, mark, category, failure, text; lua/settle.lua says what they mean. */
function outcomeArgs(outcome: Outcome): Arg[] {
  const failure = "failure" in outcome ? outcome.failure : null;
  const failed = [categoryNumber(failure?.category), failureText(failure)];
  switch (outcome.kind) {
    case "succeed":
      return ["s", 0, flag(outcome.resultDropped), ...failed, ...optional(outcome.result)];
    case "retry":
      return ["r", outcome.afterMs, flag(outcome.spend), ...failed, ...optional(null)];
    case "snooze":
      return ["z", outcome.afterMs, flag(false), ...failed, ...optional(null)];
    case "release":
      return ["l", outcome.afterMs, flag(false), ...failed, ...optional(null)];
    case "cancel":
      return ["c", 0, flag(false), ...failed, ...optional(outcome.reason)];
    case "die":
      return ["d", 0, flag(outcome.ran), ...failed, ...optional(outcome.reason)];
  }
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
