/**
 * A circuit breaker as a pure rule: it opens when the other side fails too often, and asks with a few probes
 * whether it is back.
 *
 *   closed ──`failures` within `withinMs`──▶ open ──`openMs` later, a probe is granted──▶ half-open
 *     ▲                                       ▲                                            │  │
 *     │                                       └──────────────one probe fails──────────────┘  │
 *     └───────────────────────────────`probes` probes went well──────────────────────────────┘
 *
 * A grant of a probe has an id and an end. What is said of a probe that was not granted since it opened is not
 * heard, so that an answer that is repeated or of an earlier opening changes nothing.
 */

export interface BreakerRule {
  readonly failures: number;
  readonly withinMs: number;
  readonly openMs: number;
  readonly probes: number;
}

export interface Probe {
  readonly id: string;
  readonly until: number;
  /** A call outside of jobs: one whose failure is not reported until its end went well. */
  readonly isCall: boolean;
}

export type BreakerState =
  | {
      readonly state: "closed";
      /** When, and how many: those that are in the window. */
      readonly failures: readonly (readonly [at: number, count: number])[];
    }
  | { readonly state: "open"; readonly until: number }
  | {
      readonly state: "half-open";
      readonly probes: readonly Probe[];
      readonly ok: number;
      /** Probes of jobs that run longer than their grant: what they say is heard, but others need not wait for it. */
      readonly late?: readonly string[];
    };

type HalfOpen = Extract<BreakerState, { readonly state: "half-open" }>;

/** Those of processes that died stay among the late ones until it turns. */
const MOST_LATE = 100;

export const CLOSED: BreakerState = { state: "closed", failures: [] };

/** Failures of what ran without a probe. While it is not closed they say nothing new. */
export function addFailures(
  state: BreakerState,
  rule: BreakerRule,
  count: number,
  now: number,
): BreakerState {
  if (state.state !== "closed" || count <= 0) return state;
  const failures = [...inWindow(state.failures, rule, now), [now, count] as const];
  if (sum(failures) >= rule.failures) return { state: "open", until: now + rule.openMs };
  return { state: "closed", failures };
}

/** How many probes may be granted now, and else when to ask again; null: it is closed. */
export function freeProbes(
  state: BreakerState,
  rule: BreakerRule,
  now: number,
): { readonly free: number; readonly waitMs: number } | null {
  const current = expire(state, rule, now);
  if (current.state === "closed") return null;
  if (current.state === "open") {
    const waitMs = Math.max(0, Math.ceil(current.until - now));
    return { free: waitMs > 0 ? 0 : rule.probes, waitMs };
  }
  // The rule may have been changed meanwhile, to fewer than there are.
  const free = Math.max(0, rule.probes - current.probes.length - current.ok);
  const ends = current.probes.map(({ until }) => until - now);
  return { free, waitMs: free > 0 ? 0 : Math.max(1, Math.ceil(Math.min(...ends))) };
}

/** Grants as many of these as are free. */
export function grantProbes(
  state: BreakerState,
  rule: BreakerRule,
  wanted: readonly Probe[],
  now: number,
): readonly [BreakerState, readonly string[]] {
  const free = freeProbes(state, rule, now)?.free ?? 0;
  const granted = wanted.slice(0, free);
  if (granted.length === 0) return [state, []];
  const current = expire(state, rule, now);
  const before: HalfOpen =
    current.state === "half-open" ? current : { state: "half-open", probes: [], ok: 0 };
  return [{ ...before, probes: [...before.probes, ...granted] }, granted.map(({ id }) => id)];
}

/** `unknown`: it did not run, or ended in a way that says nothing of the other side. */
export type ProbeResult = "ok" | "failed" | "unknown";

export function endProbe(
  state: BreakerState,
  rule: BreakerRule,
  { id, result }: { readonly id: string; readonly result: ProbeResult },
  now: number,
): BreakerState {
  if (state.state !== "half-open") return state;
  const { late = [] } = state;
  if (!state.probes.some((probe) => probe.id === id) && !late.includes(id)) return state;
  if (result === "failed") return { state: "open", until: now + rule.openMs };
  const ok = state.ok + (result === "ok" ? 1 : 0);
  if (ok >= rule.probes) return CLOSED;
  const probes = state.probes.filter((probe) => probe.id !== id);
  return halfOpen({ probes, ok, late: late.filter((other) => other !== id) });
}

/** Takes off what has ended by itself: failures that left the window, grants of probes. */
export function expire(state: BreakerState, rule: BreakerRule, now: number): BreakerState {
  if (state.state === "open") return state;
  if (state.state === "closed") {
    const failures = inWindow(state.failures, rule, now);
    return failures.length === state.failures.length ? state : { state: "closed", failures };
  }
  if (state.ok >= rule.probes) return CLOSED;
  const probes = state.probes.filter(({ until }) => until > now);
  if (probes.length === state.probes.length) return state;
  const over = state.probes.filter(({ until }) => until <= now);
  const ok = state.ok + over.filter(({ isCall }) => isCall).length;
  if (ok >= rule.probes) return CLOSED;
  const running = over.filter(({ isCall }) => !isCall).map(({ id }) => id);
  return halfOpen({ probes, ok, late: [...(state.late ?? []), ...running].slice(-MOST_LATE) });
}

function halfOpen({ late = [], ...state }: Omit<HalfOpen, "state">): HalfOpen {
  return { state: "half-open", ...state, ...(late.length > 0 && { late }) };
}

export function failuresInWindow(state: BreakerState, rule: BreakerRule, now: number): number {
  return state.state === "closed" ? sum(inWindow(state.failures, rule, now)) : 0;
}

type Failures = readonly (readonly [at: number, count: number])[];

function inWindow(failures: Failures, { withinMs }: BreakerRule, now: number): Failures {
  return failures.filter(([at]) => at > now - withinMs);
}

function sum(failures: Failures): number {
  return failures.reduce((total, [, count]) => total + count, 0);
}
