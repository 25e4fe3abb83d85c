/**
 * How long finished jobs and the entries of the ledger are kept. Work that has not finished is never
 * touched.
 */
import { InvalidOptionError } from "../core/errors.ts";
import { FINISHED_STATUSES, type FinishedStatus } from "../core/job.ts";
import { LEDGER_KINDS, type LedgerKind, type TrimRequest } from "../core/ledger.ts";
import { checkName } from "../core/names.ts";
import { checkObject, checkOptions, checkWhole, MAX_DURATION_MS } from "../core/option-checks.ts";
import type { Retention as RetentionPolicy } from "../core/store.ts";

const DAY_MS = 86_400_000;

/** Past either bound a finished job (or an entry) goes; 0 keeps no job; null is no bound. */
export interface KeepRule {
  readonly maxAgeMs?: number | null;
  readonly maxCount?: number | null;
}

/** Null keeps for ever. */
export type KeepRules = { readonly [Status in FinishedStatus]?: KeepRule | null };

export interface RetentionOptions extends KeepRules {
  /** Rules of single queues; a status they leave out follows the general rule. */
  readonly queues?: Readonly<Record<string, KeepRules>>;
  /** Of the ledger's entries. Null keeps for ever. Default: failures 14 days, audits a year, ticks 30 days. */
  readonly ledger?: { readonly [Kind in LedgerKind]?: KeepRule | null };
}

const DEFAULT_RULES: Required<KeepRules> = {
  succeeded: { maxAgeMs: 30 * DAY_MS },
  dead: { maxAgeMs: 14 * DAY_MS },
  cancelled: { maxAgeMs: 14 * DAY_MS },
};

const DEFAULT_LEDGER: Record<LedgerKind, KeepRule> = {
  failure: { maxAgeMs: 14 * DAY_MS },
  audit: { maxAgeMs: 365 * DAY_MS },
  // A schedule may fire every second: its ticks must not fill the ledger.
  tick: { maxAgeMs: 30 * DAY_MS, maxCount: 100_000 },
};

export class Retention {
  #policies: readonly RetentionPolicy[] = [];
  #archived: readonly RetentionPolicy[] = [];
  /** Dead jobs are archived first: they go by another way. */
  readonly #archivesDead: boolean;
  #ledger: readonly Omit<TrimRequest, "limit">[] = [];
  readonly #discarded = new Set<string>();

  constructor(options: RetentionOptions = {}, { archivesDead = false } = {}) {
    this.#archivesDead = archivesDead;
    this.obey(options);
  }

  /** What `prune` is told. */
  get policies(): readonly RetentionPolicy[] {
    return this.#policies;
  }

  /** What an archive is told: the rules of dead jobs. */
  get archived(): readonly RetentionPolicy[] {
    return this.#archived;
  }

  /** What `prune` is told where another process archives dead jobs. */
  get withoutDead(): readonly RetentionPolicy[] {
    return this.#policies.filter(({ status }) => status !== "dead");
  }

  /** What `trim` of the ledger is told. */
  get ledger(): readonly Omit<TrimRequest, "limit">[] {
    return this.#ledger;
  }

  /** From now on these hold, and nothing that was said before. */
  obey(options: RetentionOptions): void {
    checkOptions("retention", options, [...FINISHED_STATUSES, "queues", "ledger"]);
    const { queues = {}, ledger = {}, ...general } = options;
    checkObject("retention.queues", queues);
    this.#ledger = ledgerRules(ledger);
    this.#discarded.clear();
    const policies = policiesOf(null, { ...DEFAULT_RULES, ...general });
    for (const [queue, rules] of Object.entries(queues)) {
      policies.push(...policiesOf(checkName("queue", queue), rules));
    }
    for (const { queue, status, olderThanMs, keep } of policies) {
      if (olderThanMs === 0 || keep === 0) this.#discarded.add(keyOf(queue, status));
    }
    for (const { queue, status } of policies) {
      if (queue !== null) this.#discarded.add(`ruled ${keyOf(queue, status)}`);
    }
    this.#archived = policies.filter(({ status }) => status === "dead");
    this.#policies = this.#archivesDead
      ? policies.filter(({ status }) => status !== "dead")
      : policies;
  }

  /** Is such a job not kept at all? */
  discards(queue: string, status: FinishedStatus): boolean {
    if (this.#discarded.size === 0 || (this.#archivesDead && status === "dead")) return false;
    const ruled = this.#discarded.has(`ruled ${keyOf(queue, status)}`);
    return this.#discarded.has(keyOf(ruled ? queue : null, status));
  }
}

function keyOf(queue: string | null, status: FinishedStatus): string {
  return `${queue ?? "*"} ${status}`;
}

export function policiesOf(queue: string | null, rules: KeepRules): RetentionPolicy[] {
  const what = queue === null ? "retention" : `retention.queues["${queue}"]`;
  checkOptions(what, rules, FINISHED_STATUSES);
  return FINISHED_STATUSES.filter((status) => rules[status] !== undefined).map((status) => {
    const rule = rules[status] ?? {};
    checkOptions(`${what}.${status}`, rule, ["maxAgeMs", "maxCount"]);
    const policy = {
      queue,
      status,
      olderThanMs: rule.maxAgeMs ?? null,
      keep: rule.maxCount ?? null,
    };
    for (const bound of [policy.olderThanMs, policy.keep]) {
      if (bound !== null && (!Number.isSafeInteger(bound) || bound < 0)) {
        throw new InvalidOptionError(
          `retention of ${status} jobs takes whole numbers of 0 or more for maxAgeMs and maxCount, or null`,
        );
      }
    }
    return policy;
  });
}

function ledgerRules(rules: NonNullable<RetentionOptions["ledger"]>): Retention["ledger"] {
  checkOptions("retention.ledger", rules, LEDGER_KINDS);
  const all = { ...DEFAULT_LEDGER, ...rules };
  return LEDGER_KINDS.flatMap((kind) => {
    const rule = all[kind];
    if (rule === null) return [];
    const what = `retention.ledger.${kind}`;
    checkOptions(what, rule, ["maxAgeMs", "maxCount"]);
    const olderThanMs = rule.maxAgeMs ?? null;
    const keep = rule.maxCount ?? null;
    const bounds = { min: 1, max: MAX_DURATION_MS };
    if (olderThanMs !== null) checkWhole(`${what}.maxAgeMs`, olderThanMs, bounds);
    if (keep !== null) checkWhole(`${what}.maxCount`, keep, bounds);
    return [{ kind, olderThanMs, keep }];
  });
}
