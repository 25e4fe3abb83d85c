/** What a gate is made of, as people write it and as it is stored. */
import { InvalidNameError, InvalidOptionError } from "../../core/errors.ts";
import type { BreakerRule } from "../../core/breaker.ts";
import type { GateRule } from "../../core/gate-state.ts";
import { ERROR_CATEGORIES, type ErrorCategory } from "../../core/job.ts";
import { checkName } from "../../core/names.ts";
import { checkOneOf, checkOptions, checkWhole, MAX_DURATION_MS } from "../../core/option-checks.ts";
import type { Rate } from "../../core/rate.ts";
import { show } from "../../core/text.ts";

/** A whole queue, or one group of it. */
export type GateTarget = string | { readonly queue: string; readonly group?: string | undefined };

export interface RateOptions {
  /** So many every `perMs`. */
  readonly limit: number;
  readonly perMs: number;
  /** So many more at once, after a quiet time. Default: a tenth of the limit, at least 1. */
  readonly burst?: number | undefined;
  /** Each group has this rate for itself. */
  readonly per?: "group" | undefined;
}

export interface BreakerOptions {
  /** It opens after so many failures … */
  readonly failures: number;
  /** … within this time. */
  readonly withinMs: number;
  /** How long nothing is tried. */
  readonly openMs: number;
  /** How many must go well until it closes. Default 1. */
  readonly probes?: number | undefined;
  /** Failures of which categories mean that the other side is down. Default: network, timeout, rate_limit. */
  readonly countsAsDown?: readonly ErrorCategory[] | undefined;
}

export interface GateOptions {
  /** What it holds back. None: it is for `hf.gates.acquire` only. */
  readonly queue?: GateTarget | readonly GateTarget[] | undefined;
  /** Several (a burst and a daily limit): a grant needs all of them. */
  readonly rate?: RateOptions | readonly RateOptions[] | undefined;
  /** Each group has a gate for itself, with or without a rate. */
  readonly per?: "group" | undefined;
  /** A 429 or a RetryAfterError holds everything back until then. */
  readonly cooldown?: boolean | { readonly maxMs?: number | undefined } | undefined;
  readonly breaker?: BreakerOptions | undefined;
}

export interface GateLine {
  readonly queue: string;
  /** Null: the whole queue. */
  readonly group: string | null;
}

/** Of queues that have parts: a gate of the queue is one for all of them. */
export interface QueueParts {
  /** The queue of which this one is a part; or the same. */
  readonly whole: (queue: string) => string;
  /** The queue itself and all of its parts. */
  readonly names: (queue: string) => readonly string[];
  /** What is known of them becomes current. */
  readonly read: () => Promise<void>;
}

/** As it is stored. */
export interface Gate extends GateRule {
  readonly name: string;
  /** Another one for each gate of this name that was ever made: its state belongs to it alone. */
  readonly id: string;
  readonly targets: readonly GateLine[];
  readonly isPerGroup: boolean;
  readonly countsAsDown: readonly ErrorCategory[];
}

const MOST = 1_000_000_000;
const DURATION = { min: 1, max: MAX_DURATION_MS };
const MAX_TARGETS = 1_000;
const MAX_RATES = 10;
const MAX_NAME = 100;
export const COOLDOWN_MS = 15 * 60_000;
export const COUNTS_AS_DOWN: readonly ErrorCategory[] = ["network", "timeout", "rate_limit"];

export function checkGateName(name: unknown): string {
  const checked = checkName("gate", name);
  if (checked.length <= MAX_NAME) return checked;
  throw new InvalidNameError(`the name of a gate has at most ${MAX_NAME} characters`);
}

export function checkGate(options: GateOptions): Omit<Gate, "name" | "id" | "forced"> {
  checkOptions("gates.set", options, ["queue", "rate", "per", "cooldown", "breaker"]);
  const { queue = [], rate = [], per, cooldown = false, breaker } = options;
  const isList = (value: unknown): value is readonly never[] => Array.isArray(value);
  const targets = (isList(queue) ? queue : [queue as GateTarget]).map(checkTarget);
  const given = (isList(rate) ? rate : [rate as RateOptions]) as readonly RateOptions[];
  const rates = given.map((one, at) => checkRate(isList(rate) ? `rate[${at}]` : "rate", one));
  const pers = new Set(given.map((one) => one.per));
  if (per !== undefined) checkOneOf("per", per, ["group"]);
  if (pers.size > 1) {
    throw new InvalidOptionError(
      'the rates of one gate are all of the whole or all per group: give per: "group" to each of them, or to none',
    );
  }
  const isPerGroup = per === "group" || pers.has("group");
  if (targets.length > MAX_TARGETS || rates.length > MAX_RATES) {
    throw new InvalidOptionError(`a gate has at most ${MAX_TARGETS} queues and ${MAX_RATES} rates`);
  }
  if (new Set(rates.map(({ perMs }) => perMs)).size < rates.length) {
    throw new InvalidOptionError("two rates of one gate have the same perMs: keep the lower one");
  }
  if (isPerGroup && targets.some(({ group }) => group !== null)) {
    throw new InvalidOptionError(
      'a gate of one group has no groups to tell apart: leave out per: "group", or name the queue alone',
    );
  }
  const checked = {
    ...{ targets, rates, isPerGroup },
    cooldown: checkCooldown(cooldown),
    breaker: breaker === undefined ? null : checkBreaker(breaker),
    countsAsDown: breaker?.countsAsDown ?? COUNTS_AS_DOWN,
  };
  if (rates.length === 0 && checked.cooldown === null && checked.breaker === null) {
    throw new InvalidOptionError(
      "this gate holds nothing back: give it rate: { limit, perMs }, cooldown: true or breaker: { failures, withinMs, openMs }",
    );
  }
  return checked;
}

function checkTarget(target: GateTarget): GateLine {
  if (typeof target === "string") return { queue: checkName("queue", target), group: null };
  checkOptions("the queue of a gate", target, ["queue", "group"]);
  const { queue, group } = target;
  return {
    queue: checkName("queue", queue),
    group: group === undefined ? null : checkName("group", group),
  };
}

function checkRate(what: string, rate: RateOptions): Rate {
  checkOptions(what, rate, ["limit", "perMs", "burst", "per"]);
  const limit = checkWhole(`${what}.limit`, rate.limit, { min: 1, max: MOST });
  const perMs = checkWhole(`${what}.perMs`, rate.perMs, DURATION);
  const burst = rate.burst ?? Math.max(1, Math.floor(limit / 10));
  checkWhole(`${what}.burst`, burst, { min: 1, max: MOST });
  if (rate.per !== undefined) checkOneOf(`${what}.per`, rate.per, ["group"]);
  return { limit, perMs, burst };
}

function checkCooldown(cooldown: NonNullable<GateOptions["cooldown"]>): Gate["cooldown"] {
  if (cooldown === false) return null;
  if (cooldown === true) return { maxMs: COOLDOWN_MS };
  checkOptions("cooldown", cooldown, ["maxMs"]);
  return { maxMs: checkWhole("cooldown.maxMs", cooldown.maxMs ?? COOLDOWN_MS, DURATION) };
}

function checkBreaker(breaker: BreakerOptions): BreakerRule {
  checkOptions("breaker", breaker, ["failures", "withinMs", "openMs", "probes", "countsAsDown"]);
  const { failures, withinMs, openMs, probes = 1, countsAsDown } = breaker;
  if (countsAsDown !== undefined) checkCounts(countsAsDown);
  return {
    failures: checkWhole("breaker.failures", failures, { min: 1, max: 10_000 }),
    withinMs: checkWhole("breaker.withinMs", withinMs, DURATION),
    openMs: checkWhole("breaker.openMs", openMs, DURATION),
    probes: checkWhole("breaker.probes", probes, { min: 1, max: 1_000 }),
  };
}

function checkCounts(counts: readonly ErrorCategory[]): void {
  if (!Array.isArray(counts)) {
    throw new InvalidOptionError(
      `breaker.countsAsDown is a list of categories, not ${show(counts)}: the gate lives in the store, where a function cannot. Let classify of a job's contract say which category an error has`,
    );
  }
  if (counts.length === 0) {
    throw new InvalidOptionError(
      `a breaker that counts nothing never opens: leave countsAsDown out, or name some of ${ERROR_CATEGORIES.join(", ")}`,
    );
  }
  for (const category of counts as readonly unknown[]) {
    checkOneOf("a category of breaker.countsAsDown", category, ERROR_CATEGORIES);
  }
}

/** A queue has one rate: two would be one that no reader can see. So has a part, which has that of its queue. */
export function refuseSecondRate(
  gate: Gate,
  others: Iterable<Gate>,
  whole: QueueParts["whole"],
): void {
  if (gate.rates.length === 0) return;
  const queues = new Set(gate.targets.map(({ queue }) => queue));
  const wholes = new Set([...queues].map(whole));
  const isMet = ({ queue }: GateLine) =>
    queues.has(queue) || queues.has(whole(queue)) || wholes.has(queue);
  for (const other of others) {
    if (other.name === gate.name || other.rates.length === 0) continue;
    const both = other.targets.find(isMet);
    if (!both) continue;
    throw new InvalidOptionError(
      `queue "${both.queue}" has a rate already, by gate "${other.name}": give that one a list, rate: [{ … }, { … }], or remove it first`,
    );
  }
}
