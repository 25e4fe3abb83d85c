/**
 * A CRM kept in step: operations, a client, and what its errors mean. A second CRM is a folder with these three;
 * order, retries, gates, alerts and cycles are the same for all.
 *
 *     const sync = defineSync({ name: "desk", operations, client: (calls) => new Desk({ calls }) });
 *     const desk = sync.attach(hf);
 *     await desk.enqueue("save_person", { email: "ada@example.com" }, { priority: 2 });
 */
import {
  InvalidOptionError,
  StoreUnavailableError,
  type BreakerOptions,
  type Classification,
  type ErrorCategory,
  type Holdfast,
  type Notifier,
  type RateOptions,
  type RetryPolicy,
} from "holdfast";
import type { Calls } from "../calls.ts";
import { checkWords } from "../check-words.ts";
import { checkCycles, type CycleOptions, type Cycles } from "./cycle-options.ts";
import type { Operations, OperationsOf } from "./operation.ts";
import { notifierOf, type StaffAlert } from "./staff-alert.ts";
import type { SyncLimits } from "./sync-gates.ts";
import { Sync } from "./sync.ts";

export interface LimitOptions {
  /** Of all calls together; several need all of them. Default 90 in ten seconds, with a burst of 10. */
  readonly calls?: RateOptions | readonly RateOptions[] | undefined;
  /** Of calls of one kind besides, by its name. */
  readonly kinds?: Readonly<Record<string, RateOptions>> | undefined;
  /** The longest patience that a 429 may ask for. Default 25 hours: a daily limit. */
  readonly cooldownMs?: number | undefined;
  /** Null: none. Default: open after 8 failures in a minute, for 30 s, closed by 2 that go well. */
  readonly breaker?: BreakerOptions | null | undefined;
}

export interface SyncOptions<Client, Ops> {
  /** Of the sync, its queue and its gates: `hubspot`. */
  readonly name: string;
  /** Where its jobs wait. Default: its name. */
  readonly queue?: string | undefined;
  readonly operations: Ops;
  /** Made once in each process. `calls` holds it back: it asks before each call. */
  client(calls: Calls): Client;
  /** What an error of the client means; undefined: as the library sees it. */
  classify?(error: unknown): ErrorCategory | Partial<Classification> | undefined;
  /** Before the first operation, once for the fleet: properties that must be there. */
  readonly ensure?:
    | {
        /** Done again when it changes. */
        readonly version: string;
        /** What it learns is kept for the other processes. */
        run(client: Client, signal: AbortSignal): Promise<unknown>;
        /** In a process that need not run it: what another one has learnt. */
        remembered?(client: Client, learnt: unknown): void;
      }
    | undefined;
  /** Operations that are off unless they are named here. */
  readonly enable?: readonly string[] | undefined;
  /** Default: five retries after 2, 4, 8, 16 and 32 minutes, an hour at most, without jitter. */
  readonly retry?: RetryPolicy | undefined;
  readonly limits?: LimitOptions | undefined;
  /** The rates to begin with, until the client hears of others; `limits.calls` is kept whatever it hears. */
  readonly told?: readonly RateOptions[] | undefined;
  /** `"dead"`, the default: a job whose token or scopes are refused dies. `"pause"`: the queue is paused for all. */
  readonly onAuthError?: "dead" | "pause" | undefined;
  /** Told when it is paused. Deaths are told by alerts: see `notifier`. */
  readonly onPause?: ((alert: StaffAlert) => unknown) | undefined;
  /** Where rights are granted; alerts about missing ones lead there. */
  readonly scopesUrl?: string | undefined;
  /** How long finished jobs are kept, by status. Default: dead ones for ever. */
  readonly keepDeadMs?: number | null | undefined;
  /** Work in cycles, as system 4 did. Default: jobs run as they come. */
  readonly cycles?: CycleOptions | boolean | undefined;
}

/** Checked, with every default filled in. */
export interface SyncSettings<Client> {
  readonly name: string;
  readonly queue: string;
  readonly operations: Operations<Client>;
  readonly client: (calls: Calls) => Client;
  readonly classify: (error: unknown) => ErrorCategory | Partial<Classification> | undefined;
  readonly ensure: NonNullable<SyncOptions<Client, Operations<Client>>["ensure"]> | null;
  readonly isOff: ReadonlySet<string>;
  readonly retry: RetryPolicy;
  readonly limits: SyncLimits;
  readonly pausesOnAuth: boolean;
  readonly onPause: ((alert: StaffAlert) => unknown) | null;
  readonly scopesUrl: string | null;
  readonly keepDeadMs: number | null;
  readonly cycles: Cycles | null;
}

const OPTIONS = [
  ...["name", "queue", "operations", "client", "classify", "ensure", "enable", "retry", "limits"],
  ...["told"],
  ...["onAuthError", "onPause", "scopesUrl", "keepDeadMs", "cycles"],
];
const NAME = /^[a-z][a-z0-9_-]{0,39}$/;
const OPERATION = /^[a-z][a-z0-9_]{0,59}$/;

export const SYSTEM_RETRY: RetryPolicy = {
  ...{ maxAttempts: 6, baseMs: 120_000, factor: 2, maxMs: 3_600_000, jitter: 0 },
};
export const DEFAULT_BREAKER: BreakerOptions = {
  ...{ failures: 8, withinMs: 60_000, openMs: 30_000, probes: 2 },
};
const COOLDOWN_MS = 25 * 3_600_000;
/** Of our own store, which keeps lines and gates: no fault of the job, and none of the other side. */
const BACK_SOON = { category: "unknown", permanent: false, retryAfterMs: 1_000 } as const;

export interface SyncDefinition<Ops> {
  readonly name: string;
  readonly queue: string;
  /** Its job types are known to this Holdfast from then on. Once for each Holdfast. */
  attach(hf: Holdfast): Sync<Ops>;
  /** For `alerts: { notify: [sync.notifier(tell)] }`: dead jobs of this sync, as `integration_error`. */
  notifier(tell: (alert: StaffAlert) => unknown): Notifier;
}

export function defineSync<Client, Payloads>(
  options: SyncOptions<Client, OperationsOf<Payloads, Client>>,
): SyncDefinition<OperationsOf<Payloads, Client>> {
  const settings = checkSync(options as unknown as SyncOptions<Client, Operations<Client>>);
  const { name, queue } = settings;
  return {
    ...{ name, queue },
    attach: (hf) => new Sync(hf, settings as SyncSettings<unknown>),
    notifier: (tell) => notifierOf({ name, queue }, tell),
  };
}

function checkSync<Client>(options: SyncOptions<Client, Operations<Client>>): SyncSettings<Client> {
  checkWords("defineSync", options, OPTIONS);
  const { name, operations, client, limits = {}, enable = [] } = options;
  if (typeof name !== "string" || !NAME.test(name)) {
    throw new InvalidOptionError("the name of a sync has lower case letters, digits, _ and -");
  }
  checkOperations(operations);
  if (typeof client !== "function") {
    throw new InvalidOptionError(
      "client is a function that makes one: (calls) => new …({ calls })",
    );
  }
  for (const one of enable) {
    if (Object.hasOwn(operations, one)) continue;
    throw new InvalidOptionError(`enable names the operation "${one}", which there is not`);
  }
  const off = Object.keys(operations).filter((one) => operations[one]!.isOff === true);
  const { onAuthError = "dead", keepDeadMs = null } = options;
  if (onAuthError !== "dead" && onAuthError !== "pause") {
    throw new InvalidOptionError('onAuthError is "dead" or "pause"');
  }
  checkWords("limits", limits, ["calls", "kinds", "cooldownMs", "breaker"]);
  const { calls, kinds = {}, cooldownMs = COOLDOWN_MS, breaker = DEFAULT_BREAKER } = limits;
  const rates = calls ?? options.told ?? { limit: 90, perMs: 10_000, burst: 10 };
  return {
    ...{ name, queue: options.queue ?? name, operations, pausesOnAuth: onAuthError === "pause" },
    client: (given) => client.call(options, given),
    classify: (error) =>
      error instanceof StoreUnavailableError
        ? BACK_SOON
        : atMost(cooldownMs, options.classify?.(error)),
    ensure: options.ensure ?? null,
    isOff: new Set(off.filter((one) => !enable.includes(one))),
    retry: options.retry ?? SYSTEM_RETRY,
    limits: {
      ...{ calls: Array.isArray(rates) ? rates : [rates as RateOptions], kinds, cooldownMs },
      ...{ breaker, isTold: calls === undefined },
    },
    ...{ onPause: options.onPause ?? null, scopesUrl: options.scopesUrl ?? null, keepDeadMs },
    cycles: checkCycles(options.cycles),
  };
}

/** The queue waits no longer than that, so a job does not, either: who is behind it would wait as well. */
function atMost(
  mostMs: number,
  said: ErrorCategory | Partial<Classification> | undefined,
): ErrorCategory | Partial<Classification> | undefined {
  const afterMs = typeof said === "object" ? (said.retryAfterMs ?? 0) : 0;
  return afterMs > mostMs ? { ...(said as Partial<Classification>), retryAfterMs: mostMs } : said;
}

function checkOperations(operations: unknown): void {
  const entries = typeof operations === "object" ? Object.entries(operations ?? {}) : [];
  if (entries.length === 0) throw new InvalidOptionError("a sync needs operations");
  for (const [name, given] of entries) {
    if (!OPERATION.test(name)) {
      throw new InvalidOptionError(
        `"${name}" cannot be the name of an operation: use lower case letters, digits and _`,
      );
    }
    const { payload, record, load } = Object(given) as Partial<Operations<unknown>[string]>;
    if (payload && typeof record === "function" && typeof load === "function") continue;
    throw new InvalidOptionError(`the operation ${name} needs payload, record and load`);
  }
}
