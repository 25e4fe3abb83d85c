/** A gate as people see it. */
import { AT_REST, readGate, type Forced, type GateState } from "../../core/gate-state.ts";
import type { Rate } from "../../core/rate.ts";
import type { Gate, GateLine } from "./gate-options.ts";

export interface GateView {
  readonly name: string;
  readonly targets: readonly GateLine[];
  readonly per: "group" | null;
  readonly rate: readonly Rate[];
  readonly cooldown: { readonly maxMs: number } | null;
  readonly breaker: Gate["breaker"];
  readonly countsAsDown: Gate["countsAsDown"];
  readonly forced: Forced;
  /** Of the breaker, or as it was forced. */
  readonly state: "closed" | "open" | "half-open";
  /** What could start now; null without a rate, and for a gate per group as a whole. */
  readonly tokens: number | null;
  /** In the window of the breaker. */
  readonly failures: number;
  /** When the first probe may go; null if it is not open. */
  readonly openUntil: Date | null;
  readonly cooldownUntil: Date | null;
}

/** No state: of a gate per group, as a whole. */
export function gateView(gate: Gate, state: GateState | null, now: number): GateView {
  const { name, targets, rates, cooldown, breaker, countsAsDown, forced } = gate;
  const reading = readGate(state ?? AT_REST, gate, now);
  return {
    ...{ name, targets, rate: rates, cooldown, breaker, countsAsDown, forced },
    per: gate.isPerGroup ? "group" : null,
    state: reading.state,
    tokens: state === null || reading.tokens === null ? null : Math.floor(reading.tokens + 1e-9),
    failures: reading.failures,
    openUntil: dateOf(reading.openUntil),
    cooldownUntil: dateOf(reading.cooldownUntil),
  };
}

function dateOf(at: number | null): Date | null {
  return at === null ? null : new Date(Math.ceil(at));
}
