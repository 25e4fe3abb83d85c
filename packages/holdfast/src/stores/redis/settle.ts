/**
 * Settling. On one server everything a settlement brings is written in its step, whatever queue it is
 * for. In a cluster the jobs it spawns into other queues are in other slots: they are written into the
 * outbox of its own queue in the same step, and relayed from there.
 */
import type { Settlement, SettleResult } from "../../core/store.ts";
import { flag } from "./args.ts";
import { BATCH_ITEMS } from "./batch-items.ts";
import { elsewhere } from "./elsewhere.ts";
import { eachAtOnce } from "./each-at-once.ts";
import type { InsertHow } from "./insert.ts";
import { list, text } from "./reply.ts";
import { settlementArgs, spawnedHere } from "./settlement-args.ts";
import { named } from "./touched.ts";

/**
 * What one script call takes. A retry or a discarded job costs the server three to four times what a
 * plain success costs, and a settlement may bring a thousand jobs.
 */
const MOST_WORK = 20_000;
const WORK = { ofPlain: MOST_WORK / BATCH_ITEMS, ofOther: 100, ofSpawned: 16, ofEntry: 5 } as const;
/** What the script says of a settlement; anything else is: settled. */
const LOST = "0";
const FINISHED = "2";

type SettleHow = InsertHow & { readonly remembersMs: number };

export async function settle(
  how: SettleHow,
  settlements: readonly Settlement[],
): Promise<SettleResult[]> {
  const { server } = how;
  const names = [...new Set(settlements.map(({ queue }) => queue))];
  const slots = server.slots(names);
  if (slots.length === 1) return settleInSlot(how, settlements);
  const results = new Map<Settlement, SettleResult>();
  await eachAtOnce(slots, async (slot) => {
    const own = settlements.filter(({ queue }) => slot.includes(queue));
    const answers = await settleInSlot(how, own);
    for (const [index, settlement] of own.entries())
      results.set(settlement, answers[index] ?? "lost");
  });
  return settlements.map((settlement) => results.get(settlement) ?? "lost");
}

async function settleInSlot(
  how: SettleHow,
  settlements: readonly Settlement[],
): Promise<SettleResult[]> {
  const results: SettleResult[] = [];
  for (const batch of batches(settlements)) await settleBatch(how, batch, results);
  return results;
}

async function settleBatch(
  how: SettleHow,
  batch: readonly Settlement[],
  results: SettleResult[],
): Promise<void> {
  const { server, queues, touched, remembersMs } = how;
  const spawned = batch.flatMap((settlement) => spawnedHere(settlement, server.isCluster));
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
  for (const [index, { id }] of batch.entries()) {
    const digit = digits[index];
    results.push(digit === LOST ? "lost" : "settled");
    if (digit === FINISHED) touched.finished.push(id);
  }
}

function* batches(settlements: readonly Settlement[]): Generator<readonly Settlement[]> {
  let batch: Settlement[] = [];
  let work = 0;
  for (const settlement of settlements) {
    const own = workOf(settlement);
    if (batch.length > 0 && work + own > MOST_WORK) {
      yield batch;
      [batch, work] = [[], 0];
    }
    batch.push(settlement);
    work += own;
  }
  if (batch.length > 0) yield batch;
}

function workOf({ outcome, discard, spawn, entries }: Settlement): number {
  const isPlain = outcome.kind === "succeed" && discard !== true;
  const brought = WORK.ofSpawned * (spawn?.length ?? 0) + WORK.ofEntry * (entries?.length ?? 0);
  return (isPlain ? WORK.ofPlain : WORK.ofOther) + brought;
}
