/** Arguments of scripts: flat lists, because a script that parsed JSON would be several times slower. */
import type { DedupeKey, Failure, KeyLifetime } from "../../core/job.ts";
import type { LedgerEntry } from "../../core/ledger.ts";
import type { JobFilter, Updates } from "../../core/store.ts";
import type { Arg } from "./client-like.ts";
import { categoryNumber, statusNumber } from "./header.ts";

const YES = "1";
const NO = "0";

export function flag(value: boolean): string {
  return value ? YES : NO;
}

/** Is it there, and what is it: an empty text is not the same as none. */
export function optional(text: string | null | undefined): [string, string] {
  return text === null || text === undefined ? [NO, ""] : [YES, text];
}

/** Empty means none. */
export function orEmpty(value: number | null | undefined): Arg {
  return value ?? "";
}

export function keyArgs({ key, hash, lifetime }: DedupeKey): Arg[] {
  return [key, hash, lifetimeNumber(lifetime)];
}

function lifetimeNumber(lifetime: KeyLifetime): number {
  if (lifetime === "kept") return -1;
  return lifetime === "until-finished" ? -2 : lifetime.ttlMs;
}

export function riderArgs(updates: Updates | undefined): Arg[] {
  if (updates === undefined) return [NO];
  const { progress, checkpoint, logs = [], steps = [] } = updates;
  return [
    YES,
    ...optional(progress === undefined ? null : JSON.stringify(progress)),
    ...optional(checkpoint),
    logs.length,
    ...logs,
    steps.length,
    ...steps.flatMap(({ name, value }) => [name, value]),
  ];
}

export function failureText(failure: Failure | null): string {
  if (failure === null) return "";
  const { category, message, stack, fingerprint } = failure;
  return JSON.stringify({ category, message, stack, fingerprint });
}

/** `rest` is what never changes, and what filters look into. */
export function entryArgs(entry: LedgerEntry): Arg[] {
  const { id, at, state, body, kind, jobId, type, queue, group, category } = entry;
  const { fingerprint = null, company = null, isFinal = null } = entry;
  const words = { kind, jobId, type, queue, group, category, fingerprint, company, isFinal };
  const rest = Object.entries(words).filter(([, value]) => value !== null);
  const known = JSON.stringify(Object.fromEntries(rest));
  return [id, orEmpty(at), state, body, known, kind, jobId ?? ""];
}

export const NO_FILTER: readonly Arg[] = ["-"];

export function filterArgs(filter: JobFilter, frozenAt: number | null = null): Arg[] {
  const { status, delayed, group, type, tag, category, fingerprint, worker, retrying } = filter;
  const { from, to, finishedFrom, finishedTo } = filter;
  return [
    "f",
    // No status at all fits none.
    status === undefined ? "" : `0${status.map(statusNumber).join("")}`,
    delayed === undefined ? "" : flag(delayed),
    ...optional(group),
    ...optional(type),
    ...optional(tag),
    category === undefined ? "" : categoryNumber(category),
    ...optional(fingerprint),
    ...optional(worker),
    retrying === undefined ? "" : flag(retrying),
    ...[orEmpty(from), orEmpty(to), orEmpty(finishedFrom), orEmpty(finishedTo), orEmpty(frozenAt)],
  ];
}
