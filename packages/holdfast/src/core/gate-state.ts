/**
 * What a gate remembers, and how it answers: a rate, a cooldown and a breaker in one record, so that a fleet
 * acts as one. Pure: (state, rule, input, now) → [state, answer]. No state at all is the state at rest.
 */
import {
  addFailures,
  CLOSED,
  endProbe,
  expire,
  failuresInWindow,
  freeProbes,
  grantProbes,
  type BreakerRule,
  type BreakerState,
  type ProbeResult,
} from "./breaker.ts";
import { fullInMs, giveBack, refill, takeTokens, type Buckets, type Rate } from "./rate.ts";

export const FORCED = ["auto", "open", "closed"] as const;
export type Forced = (typeof FORCED)[number];

export interface GateRule {
  readonly rates: readonly Rate[];
  readonly cooldown: { readonly maxMs: number } | null;
  readonly breaker: BreakerRule | null;
  readonly forced: Forced;
}

export interface GateState {
  readonly buckets: Buckets;
  readonly cooldownUntil: number | null;
  readonly breaker: BreakerState;
  /** Of the process that wrote it: tells a lost reply from a lost race. */
  readonly mark: string;
}

export const AT_REST: GateState = { buckets: {}, cooldownUntil: null, breaker: CLOSED, mark: "" };

/** What holds something back. */
export type HeldBy = "forced" | "cooldown" | "breaker" | "rate";

export interface Ask {
  readonly least: number;
  readonly wanted: number;
  /** Also wanted, if there is plenty. */
  readonly ahead?: number;
  /** Probes are named after it. */
  readonly mark: string;
  /** How long a grant of a probe lasts. */
  readonly probeMs: number;
  readonly isCall?: boolean;
}

export interface Answer {
  readonly granted: number;
  /** One for each grant while the breaker is half-open; else none. */
  readonly probes: readonly string[];
  readonly heldBy: HeldBy | null;
  /** When to ask again; null: when something happens. */
  readonly waitMs: number | null;
}

export function askGate(
  state: GateState,
  rule: GateRule,
  ask: Ask,
  now: number,
): readonly [GateState, Answer] {
  if (rule.forced === "open") return [state, denied("forced", null)];
  const isFree = rule.forced === "closed";
  if (!isFree && state.cooldownUntil !== null && state.cooldownUntil > now) {
    return [state, denied("cooldown", Math.ceil(state.cooldownUntil - now))];
  }
  const probing = rule.breaker && !isFree ? freeProbes(state.breaker, rule.breaker, now) : null;
  if (probing?.free === 0) return [state, denied("breaker", probing.waitMs)];
  const { mark, least } = ask;
  if (!probing && rule.rates.length === 0) {
    const granted = ask.wanted + (ask.ahead ?? 0);
    return [state, { granted, probes: [], heldBy: null, waitMs: null }];
  }
  // Each of several probes tells something; a call that costs several tokens is one.
  const most = probing ? Math.max(least, ask.isCall ? least : probing.free) : Infinity;
  const [buckets, taken] = takeTokens(
    state.buckets,
    rule.rates,
    { least, wanted: Math.min(ask.wanted, most), ahead: probing ? 0 : (ask.ahead ?? 0) },
    now,
  );
  if (taken.granted === 0) return [state, denied("rate", taken.waitMs)];
  const granted = { granted: taken.granted, probes: [], heldBy: null, waitMs: null };
  if (!probing || !rule.breaker) return [{ ...state, buckets, mark }, granted];
  const [breaker, probes] = grantProbes(
    state.breaker,
    rule.breaker,
    Array.from({ length: ask.isCall ? 1 : taken.granted }, (_, at) => ({
      ...{ id: `${mark}.${at}`, until: now + ask.probeMs, isCall: ask.isCall ?? false },
    })),
    now,
  );
  return [
    { ...state, buckets, breaker, mark },
    { ...granted, probes },
  ];
}

function denied(heldBy: HeldBy, waitMs: number | null): Answer {
  return { granted: 0, probes: [], heldBy, waitMs };
}

/** Tokens that were not used. */
export function returnTokens(
  state: GateState,
  rule: GateRule,
  unused: readonly { readonly tokens: number; readonly takenAt: number }[],
  now: number,
): GateState {
  let { buckets } = state;
  for (const one of unused) buckets = giveBack(buckets, rule.rates, one, now);
  return { ...state, buckets };
}

/** The longest time named wins. */
export function coolDown(state: GateState, rule: GateRule, forMs: number, now: number): GateState {
  if (!rule.cooldown) return state;
  const until = now + Math.min(forMs, rule.cooldown.maxMs);
  if (state.cooldownUntil !== null && state.cooldownUntil >= until) return state;
  return { ...state, cooldownUntil: until };
}

export function noteFailures(
  state: GateState,
  rule: GateRule,
  count: number,
  now: number,
): GateState {
  if (!rule.breaker) return state;
  const breaker = addFailures(expire(state.breaker, rule.breaker, now), rule.breaker, count, now);
  return breaker === state.breaker ? state : { ...state, breaker };
}

export function noteProbe(
  state: GateState,
  rule: GateRule,
  probe: { readonly id: string; readonly result: ProbeResult },
  now: number,
): GateState {
  if (!rule.breaker) return state;
  const breaker = endProbe(state.breaker, rule.breaker, probe, now);
  return breaker === state.breaker ? state : { ...state, breaker };
}

/** For how long it must be remembered; what is at rest need not be. */
export function rememberMs(state: GateState, rule: GateRule, now: number): number {
  const { breaker, cooldownUntil } = state;
  if (rule.breaker && breaker.state !== "closed") return LONGEST_MS;
  const windowMs = breaker.state === "closed" && breaker.failures.length > 0 ? rule.breaker : null;
  const neededMs = Math.max(
    fullInMs(state.buckets, rule.rates, now),
    (cooldownUntil ?? now) - now,
    windowMs?.withinMs ?? 0,
  );
  return Math.ceil(Math.min(LONGEST_MS, neededMs + SPARE_MS));
}

const SPARE_MS = 60_000;
const LONGEST_MS = 30 * 86_400_000;

/** As people see it. */
export interface GateReading {
  readonly state: BreakerState["state"];
  /** What could be granted now; null without a rate. */
  readonly tokens: number | null;
  readonly failures: number;
  readonly openUntil: number | null;
  readonly cooldownUntil: number | null;
}

export function readGate(state: GateState, rule: GateRule, now: number): GateReading {
  const breaker = rule.breaker ? expire(state.breaker, rule.breaker, now) : CLOSED;
  const full = refill(state.buckets, rule.rates, now);
  const tokens = rule.rates.map(({ perMs }) => Math.max(0, full[perMs]!.tokens));
  const { cooldownUntil } = state;
  return {
    state: rule.forced === "auto" ? breaker.state : rule.forced,
    tokens: tokens.length === 0 ? null : Math.min(...tokens),
    failures: rule.breaker ? failuresInWindow(breaker, rule.breaker, now) : 0,
    openUntil: breaker.state === "open" ? breaker.until : null,
    cooldownUntil: cooldownUntil !== null && cooldownUntil > now ? cooldownUntil : null,
  };
}
