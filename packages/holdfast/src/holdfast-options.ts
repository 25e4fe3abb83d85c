/** What `new Holdfast` takes, checked and completed. */
import type { AlertOptions } from "./control/alerts/alert-options.ts";
import type { Archive } from "./control/archive/archive-dead.ts";
import { DEFAULT_RETRY, MAX_ATTEMPTS } from "./core/backoff.ts";
import { isContract } from "./core/contract.ts";
import { InvalidOptionError } from "./core/errors.ts";
import type { LedgerStore } from "./core/ledger.ts";
import { checkStale, DEFAULT_STALE_MS } from "./core/lock-options.ts";
import { checkOptions, checkWhole } from "./core/option-checks.ts";
import type { RedactOptions } from "./core/redact.ts";
import type { Store } from "./core/store.ts";
import type { EngineOptions } from "./engine/create-engine.ts";
import type { ExtensionFactory } from "./engine/extension.ts";
import { checkWorkOptions, type WorkOptions } from "./engine/lease/work-options.ts";
import { stderrLogger, type Logger } from "./engine/logger.ts";
import type { RetentionOptions } from "./engine/retention.ts";
import { noStore } from "./engine/no-store.ts";
import { systemRuntime, type Runtime } from "./engine/runtime.ts";
import type { SpoolStore } from "./engine/produce/spool.ts";
import type { AnyContract } from "./engine/typed-jobs.ts";
import { spoolFile } from "./spool-file.ts";

export interface Settings<Jobs extends readonly AnyContract[]> {
  /** Contracts known from the start: they type and route `hf.enqueue("type", …)`. */
  readonly jobs?: Jobs | undefined;
  /**
   * Where failures and audits are kept. `"store"`: with the jobs, in one step. Another store: carried
   * there, once each, and no job waits for it. False: nowhere but in each job's own history. Default
   * `"store"`.
   */
  readonly ledger?: LedgerStore | "store" | false | undefined;
  /** What is hidden in the ledger and in answers, besides keys with password, token, secret, key, authorization. */
  readonly redact?: RedactOptions | undefined;
  /** What people are told without asking, and who is. Default: a spike of failures, to logs and listeners. */
  readonly alerts?: AlertOptions | undefined;
  readonly logger?: Logger | undefined;
  readonly retention?: RetentionOptions | undefined;
  /**
   * Where dead jobs go before retention removes them: `{ file }`, a line of JSON each, or a function. One that
   * fails keeps the jobs.
   */
  readonly archive?: Archive | undefined;
  /** Default 1 MiB. */
  readonly maxPayloadBytes?: number | undefined;
  /** Attempts of types that name none. Default 5. */
  readonly maxAttempts?: number | undefined;
  /** Of execution locks of types that name none. `staleMs`: default 30 minutes. */
  readonly lock?: { readonly staleMs?: number | undefined } | undefined;
  /** What `hf.work` does unless it is told otherwise. */
  readonly work?: WorkOptions | undefined;
  /** Your own name for the code that runs, for people who look at the fleet. */
  readonly appVersion?: string | undefined;
  /** Counts how attempts end and how long they take, for `hf.stats`. Default true. */
  readonly stats?: boolean | undefined;
  /** Clock, timers, chance and ids; for tests and simulations. */
  readonly runtime?: Runtime | undefined;
  /** @internal */
  readonly extensions?: readonly ExtensionFactory[] | undefined;
}

/**
 * What an enqueue does while the store is away. `"inline"`: the handler runs in the caller. A spool:
 * the job waits on this machine, in the SQLite file of this name or in a store of your own.
 */
export type Resilience =
  | "inline"
  | {
      readonly spool: SpoolStore | string;
      /** An enqueue is refused while so many wait. Default 100,000. */
      readonly maxJobs?: number | undefined;
    };

/** What a receipt of such a Holdfast may say. */
export type StatusOf<How extends Resilience | undefined> =
  | "added"
  | "duplicate"
  | (How extends "inline" ? "ran" : never)
  | (How extends { readonly spool: unknown } ? "spooled" : never);

export type HoldfastOptions<
  Jobs extends readonly AnyContract[] = readonly AnyContract[],
  How extends Resilience | undefined = undefined,
> = Settings<Jobs> &
  (
    | {
        readonly store: Store;
        /** Default: an enqueue throws `StoreUnavailableError`. */
        readonly resilient?: How | undefined;
      }
    /** Without a store every job runs in its caller. */
    | ({ readonly store?: undefined; readonly resilient: How } & { readonly resilient: "inline" })
  );

const OPTIONS = [
  ...["store", "ledger", "resilient", "jobs", "logger", "retention", "maxPayloadBytes"],
  ...["maxAttempts", "work", "lock"],
  ...["appVersion", "redact", "alerts", "archive", "stats", "runtime", "extensions"],
];
const MAX_SPOOLED = 100_000;
const DEFAULT_MAX_PAYLOAD_BYTES = 1024 * 1024;
/** Beyond this a store would have to split one job over several calls. */
const MOST_PAYLOAD_BYTES = 3 * 1024 * 1024;

export function checkHoldfastOptions(
  options: HoldfastOptions<readonly AnyContract[], Resilience | undefined>,
): EngineOptions & { readonly stats: boolean } {
  checkOptions("new Holdfast", options, OPTIONS);
  const { store, ledger, resilient } = options;
  const isInline = resilient === "inline";
  const hasStore = typeof store?.lease === "function";
  if (!hasStore && !(store === undefined && isInline)) {
    throw new InvalidOptionError(notAStore(store));
  }
  checkLedger(ledger, hasStore);
  const { jobs = [], logger = stderrLogger } = options;
  checkJobs(jobs);
  checkLogger(logger);
  return {
    store: store ?? noStore(),
    hasStore,
    ledger: ledger === false ? undefined : (ledger ?? (hasStore ? "store" : undefined)),
    isInline,
    spool: isInline || resilient === undefined ? null : checkSpool(resilient),
    jobs,
    logger,
    retention: options.retention,
    archivesDead: checkArchive(options.archive),
    redact: checkRedact(options.redact),
    maxPayloadBytes: checkWhole(
      "maxPayloadBytes",
      options.maxPayloadBytes ?? DEFAULT_MAX_PAYLOAD_BYTES,
      { min: 1, max: MOST_PAYLOAD_BYTES },
    ),
    maxAttempts: checkWhole("maxAttempts", options.maxAttempts ?? DEFAULT_RETRY.maxAttempts, {
      min: 1,
      max: MAX_ATTEMPTS,
    }),
    work: checkWork(options.work),
    appVersion: checkVersion(options.appVersion),
    stats: checkStats(options.stats),
    runtime: options.runtime ?? systemRuntime(),
  };
}

/** What was given instead, if it is a mistake that others have made before. */
function notAStore(given: unknown): string {
  if (typeof given === "string") {
    return "new Holdfast takes a store, not its URL: connect(url) from holdfast/connect makes a Holdfast from one";
  }
  const { then, enqueue } = Object(given) as {
    readonly then?: unknown;
    readonly enqueue?: unknown;
  };
  if (typeof then === "function") {
    return "new Holdfast takes a store, not a promise; connect(url) resolves to a Holdfast, so use that as it is: const hf = await connect(url)";
  }
  if (typeof enqueue === "function") {
    return "new Holdfast takes a store, and this is a Holdfast already: connect(url) has made it, so use it as it is";
  }
  return "new Holdfast needs a store: for example sqliteStore({ file }) from holdfast/sqlite";
}

function checkJobs(jobs: unknown): void {
  if (Array.isArray(jobs) && jobs.every(isContract)) return;
  throw new InvalidOptionError("jobs takes an array of contracts, each made by defineJob");
}

function checkLogger(logger: unknown): void {
  const words = ["debug", "info", "warn", "error"] as const;
  const given = Object(logger) as Partial<Record<(typeof words)[number], unknown>>;
  const missing = words.find((word) => typeof given[word] !== "function");
  if (missing === undefined) return;
  throw new InvalidOptionError(
    `logger needs debug, info, warn and error (console, pino, …), and this one has no ${missing}`,
  );
}

/** How long a lock of a type that does not say counts as running. */
export function checkLockDefaults(lock: Settings<readonly never[]>["lock"]): number {
  if (lock === undefined) return DEFAULT_STALE_MS;
  checkOptions("lock", lock, ["staleMs"]);
  return lock.staleMs === undefined ? DEFAULT_STALE_MS : checkStale("lock.staleMs", lock.staleMs);
}

/** Judged now, not when a worker starts. */
function checkWork(work: WorkOptions | undefined): WorkOptions {
  if (work === undefined) return {};
  checkWorkOptions(work, ["default"]);
  return work;
}

function checkVersion(version: unknown): string | null {
  if (version === undefined) return null;
  if (typeof version === "string" && version !== "" && version.length <= 100) return version;
  throw new InvalidOptionError("appVersion is a text of 1 to 100 characters, for example 2.4.1");
}

function checkStats(stats: unknown): boolean {
  if (stats === undefined || typeof stats === "boolean") return stats !== false;
  throw new InvalidOptionError("stats is true or false");
}

function checkRedact(redact: RedactOptions = {}): RedactOptions {
  checkOptions("redact", redact, ["keys", "value"]);
  const { keys = [], value } = redact;
  const isList = Array.isArray(keys) && keys.every((key) => typeof key === "string" && key !== "");
  if (!isList) throw new InvalidOptionError('redact.keys is a list of words: ["iban"]');
  if (value !== undefined && typeof value !== "function") {
    throw new InvalidOptionError("redact.value is a function: (value) => what may be shown");
  }
  return redact;
}

function checkArchive(archive: Archive | undefined): boolean {
  if (archive === undefined) return false;
  if (typeof archive === "function") return true;
  checkOptions("archive", archive, ["file"]);
  if (typeof archive.file === "string" && archive.file !== "") return true;
  throw new InvalidOptionError('archive is { file: "dead.jsonl" }, or a function that takes jobs');
}

function checkLedger(ledger: unknown, hasStore: boolean): void {
  if (ledger === undefined || ledger === false || (ledger === "store" && hasStore)) return;
  const { ledger: book, records } = Object(ledger) as Partial<LedgerStore>;
  if (typeof book?.append === "function" && typeof records?.swap === "function") return;
  throw new InvalidOptionError(
    hasStore
      ? 'ledger is "store" (with the jobs), false, or another store, for example postgresStore({ url })'
      : "without a store of jobs the ledger needs one of its own, for example postgresStore({ url })",
  );
}

function checkSpool(resilient: Exclude<Resilience, "inline">): EngineOptions["spool"] {
  checkOptions("resilient", resilient, ["spool", "maxJobs"]);
  const { spool } = resilient;
  const limits = { min: 1, max: 1_000_000_000 };
  const maxJobs = checkWhole("resilient.maxJobs", resilient.maxJobs ?? MAX_SPOOLED, limits);
  if (typeof spool === "string" && spool !== "") return { store: spoolFile(spool), maxJobs };
  const isStore = typeof spool === "object" && typeof spool?.records?.swap === "function";
  if (isStore) return { store: spool, maxJobs };
  throw new InvalidOptionError(
    'resilient is "inline", or { spool } with a file name or a store such as sqliteStore({ file })',
  );
}
