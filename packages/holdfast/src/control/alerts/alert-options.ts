/** What `alerts` of `new Holdfast` takes. */
import type { Alert } from "../../core/alert.ts";
import { InvalidOptionError } from "../../core/errors.ts";
import {
  checkNumber,
  checkOptions,
  checkWhole,
  MAX_DURATION_MS,
} from "../../core/option-checks.ts";
import { show } from "../../core/text.ts";
import { Webhook } from "./webhook.ts";

/** Told of every alert, by a job: a throw is tried again, five times in all. */
export type Notifier = (alert: Alert) => unknown;

export interface AlertOptions {
  /** Failed attempts of a queue. Default 10 within an hour; null: off. */
  readonly spike?:
    | { readonly failures?: number | undefined; readonly withinMs?: number | undefined }
    | null
    | undefined;
  /** Dead jobs, one alert per fault and hour. Default true once `alerts` is given. */
  readonly dead?: boolean | undefined;
  /** How long the longest waiting job of a queue may wait. Default: off. */
  readonly lagMs?: number | null | undefined;
  /** How many jobs of a queue may be ready and wait. Default: off. */
  readonly depth?: number | null | undefined;
  /** Which share of its memory the store may use, from 0 to 1. Default: off. */
  readonly memory?: number | null | undefined;
  /** Who is told, besides logs and listeners: functions, and webhooks made by `webhook()`. */
  readonly notify?: readonly (Notifier | Webhook)[] | undefined;
}

export interface AlertSettings {
  readonly spike: { readonly failures: number; readonly withinMs: number } | null;
  readonly dead: boolean;
  readonly lagMs: number | null;
  readonly depth: number | null;
  readonly memory: number | null;
  readonly notify: readonly (Notifier | Webhook)[];
}

const OPTIONS = ["spike", "dead", "lagMs", "depth", "memory", "notify"];
const SPIKE = { failures: 10, withinMs: 3_600_000 };
/** So many can be counted. */
const MOST_FAILURES = 10_000;
const MOST_WAITING = 1_000_000_000;

export function checkAlerts(
  options: AlertOptions | undefined,
  has: { readonly store: boolean; readonly ledger: boolean },
): AlertSettings {
  const given = options !== undefined;
  const alerts: unknown = options ?? {};
  checkOptions("alerts", alerts, OPTIONS);
  const { spike, dead, lagMs, depth, memory, notify = [] } = alerts as AlertOptions;
  if (dead !== undefined && typeof dead !== "boolean") {
    throw new InvalidOptionError(`alerts.dead must be true or false, not ${show(dead)}`);
  }
  refuseWithout(has, { spike: spike != null, dead: dead === true, any: given });
  return {
    spike: has.ledger && has.store ? checkSpike(spike) : null,
    dead: given && has.ledger && (dead ?? true),
    lagMs:
      lagMs == null ? null : checkWhole("alerts.lagMs", lagMs, { min: 1, max: MAX_DURATION_MS }),
    depth: depth == null ? null : checkWhole("alerts.depth", depth, { min: 1, max: MOST_WAITING }),
    memory: memory == null ? null : checkNumber("alerts.memory", memory, { min: 0.01, max: 1 }),
    notify: checkNotify(notify),
  };
}

/** An alert that can never come is worse than an error. */
function refuseWithout(
  has: { readonly store: boolean; readonly ledger: boolean },
  wants: { readonly spike: boolean; readonly dead: boolean; readonly any: boolean },
): void {
  if (wants.any && !has.store) {
    throw new InvalidOptionError("alerts need a store: without one no process knows of the others");
  }
  const [name] = [...(wants.spike ? ["spike"] : []), ...(wants.dead ? ["dead"] : [])];
  if (name !== undefined && !has.ledger) {
    throw new InvalidOptionError(
      `alerts.${name} counts in the ledger, and this Holdfast has none: leave ledger: false out`,
    );
  }
}

function checkSpike(spike: AlertOptions["spike"]): AlertSettings["spike"] {
  if (spike === null) return null;
  checkOptions("alerts.spike", spike ?? {}, ["failures", "withinMs"]);
  const { failures = SPIKE.failures, withinMs = SPIKE.withinMs } = spike ?? {};
  return {
    failures: checkWhole("alerts.spike.failures", failures, { min: 1, max: MOST_FAILURES }),
    withinMs: checkWhole("alerts.spike.withinMs", withinMs, { min: 1_000, max: MAX_DURATION_MS }),
  };
}

function checkNotify(notify: unknown): AlertSettings["notify"] {
  const isChannel = (one: unknown) => typeof one === "function" || one instanceof Webhook;
  if (Array.isArray(notify) && notify.every(isChannel)) return notify as AlertSettings["notify"];
  throw new InvalidOptionError(
    "alerts.notify is a list of functions (alert) => … and of webhooks made by webhook({ url, secret })",
  );
}
