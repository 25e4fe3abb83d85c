/** What an attempt asks for: the lock of its owner, key and scope. */
import { createHash } from "node:crypto";
import { LockScopeError } from "../../core/errors.ts";
import { lockText, type LockRecord } from "../../core/lock.ts";
import type { LockedJob, ResolvedLock } from "../../core/lock-options.ts";
import { checkLabel } from "../../core/names.ts";
import type { AttemptView } from "../../engine/extension.ts";
import { companyOf } from "../failures/company-of.ts";
import { lockId } from "./lock-records.ts";

const MAX_CHARS = 512;
const HASH_CHARS = 16;

/** Throws `LockScopeError` if the contract's functions do not say which lock it is. */
export function claimOf(attempt: AttemptView, rule: ResolvedLock): LockRecord {
  const { id: jobId, type, queue, group, fence, payload, payloadText } = attempt;
  const { attempt: number, tags, createdAt } = attempt;
  const job: LockedJob = { id: jobId, type, queue, group, attempt: number, tags, createdAt };
  const { key, staleMs } = rule;
  const scope = named(rule, "scope", () => rule.scope(payload, job));
  const owner = rule.owner
    ? named(rule, "owner", () => rule.owner!(payload, job))
    : (companyIn(payload) ?? group ?? "");
  return {
    ...{ id: lockId(owner, key, scope), key, scope, owner, state: "running" },
    hash: createHash("sha256").update(lockText(payloadText)).digest("hex").slice(0, HASH_CHARS),
    ...{ jobId, fence, type, queue, group, company: companyOf(payloadText, group), staleMs },
    // The fence has the store's clock at the lease: one more call would tell no more.
    startedAt: Math.floor(fence / 1_000),
    finishedAt: null,
  };
}

function named({ key }: ResolvedLock, what: string, ask: () => unknown): string {
  try {
    return checkLabel(`the ${what} of lock ${key}`, ask(), MAX_CHARS);
  } catch (cause) {
    throw new LockScopeError(
      `the ${what} of lock ${key} must be a text of 1 to ${MAX_CHARS} characters: mend the function in the contract, then retry the job`,
      { cause },
    );
  }
}

function companyIn(payload: unknown): string | null {
  const { companyId } = Object(payload) as { readonly companyId?: unknown };
  const isName = typeof companyId === "string" && companyId !== "" && companyId.length <= MAX_CHARS;
  return isName ? companyId : null;
}
