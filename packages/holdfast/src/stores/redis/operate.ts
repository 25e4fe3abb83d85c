/**
 * An operator's hand. The rules are in the scripts (lua/cancel.lua and its neighbours); here the jobs
 * are found: by their ids in every queue, or by a filter, page by page. What a filter found is asked
 * again by the script that changes it, because somebody may have been quicker.
 */
import type { Change, Changes, Due, JobRef, Revival, Target, Why } from "../../core/store.ts";
import { filterArgs, NO_FILTER, optional, orEmpty } from "./args.ts";
import type { Arg, Reply } from "./client-like.ts";
import { pageOfIds } from "./find.ts";
import { eachAtOnce } from "./each-at-once.ts";
import { statusOf, type InsertHow } from "./insert.ts";
import { list, number, rows, text } from "./reply.ts";
import type { ScriptName } from "./script.ts";

interface Verb {
  readonly script: ScriptName;
  readonly head: readonly Arg[];
}

export async function cancel(how: InsertHow, target: Target, why: Why): Promise<Changes> {
  const head = [...optional(why.reason), ...optional(why.by)];
  return changeEach(how, target, { script: "cancel", head });
}

export async function revive(
  how: InsertHow,
  target: Target,
  { revival, why }: { readonly revival: Revival; readonly why: Why },
): Promise<Changes> {
  const { payload, attempts, runAt, delayMs } = revival;
  const head = [
    ...optional(payload?.json),
    ...optional(payload?.hash),
    ...[attempts, orEmpty(runAt), delayMs, ...optional(why.by)],
  ];
  return changeEach(how, target, { script: "revive", head });
}

export async function reschedule(how: InsertHow, target: Target, due: Due): Promise<Changes> {
  const head = [orEmpty(due.runAt), due.delayMs];
  return changeEach(how, target, { script: "reschedule", head });
}

export async function remove(
  how: InsertHow,
  target: Target,
  remembersMs: number,
): Promise<Changes> {
  return changeEach(how, target, { script: "remove", head: [remembersMs] });
}

async function changeEach(how: InsertHow, target: Target, verb: Verb): Promise<Changes> {
  if ("ids" in target) {
    const changes = await changeIds(how, target.ids, { ...verb, filter: NO_FILTER });
    return { changes: changes.map((change) => change ?? UNFIT), nextCursor: null };
  }
  const { filter, frozenAt, limit, cursor = null } = target;
  const page = { limit: Math.min(limit, MOST), cursor, order: "oldest" as const };
  const { refs, nextCursor } = await pageOfIds(how, filter, { page, frozenAt });
  const found = await changeIds(how, refs, { ...verb, filter: filterArgs(filter, frozenAt) });
  const changes = found.filter((change) => change !== null && change.result !== "missing");
  return { changes: changes.filter((change) => change !== null), nextCursor };
}

const MOST = 200;
const UNFIT: Change = { id: "", result: "missing", status: null };
const RESULTS: readonly Change["result"][] = ["missing", "done", "asked", "refused"];

/** Null: it does not fit the filter any more. */
async function changeIds(
  { server, queues, touched }: InsertHow,
  refs: readonly JobRef[],
  { script, head, filter }: Verb & { readonly filter: readonly Arg[] },
): Promise<(Change | null)[]> {
  const changes: (Change | null)[] = refs.map(({ id }) => ({
    id,
    result: "missing",
    status: null,
  }));
  if (refs.length === 0) return changes;
  const names = await queuesOf(refs, queues);
  await eachAtOnce(server.slots(names), async (slot) => {
    for (let from = 0; from < refs.length; from += MOST) {
      const ids = refs.slice(from, from + MOST).map(({ id }) => id);
      const reply = await server.onQueues(script, slot, [...head, ...filter, ...ids]);
      const [woken, finished, ...results] = list(reply);
      touched.wake(woken, slot);
      touched.finished.push(...list(finished).map(text));
      for (const [place, result] of rows(results, 2).entries()) {
        const change = changeOf(ids[place] ?? "", result);
        if (change?.result !== "missing") changes[from + place] = change;
      }
    }
  });
  return changes;
}

/** A hint is taken only if every job has one: a wrong one would hide its job. */
async function queuesOf(refs: readonly JobRef[], queues: InsertHow["queues"]): Promise<string[]> {
  const hints = refs.flatMap(({ queue }) => queue ?? []);
  return hints.length === refs.length ? [...new Set(hints)] : queues.all();
}

function changeOf(id: string, [result, status]: readonly Reply[]): Change | null {
  const known = RESULTS[number(result)];
  if (known === undefined) return null;
  const after = statusOf(number(status));
  return { id, result: known, status: after === "pruned" ? null : after };
}
