/** What `HoldfastModule.forRoot` takes: what `new Holdfast` takes, and what a Nest application says besides. */
import type {
  InjectionToken,
  ModuleMetadata,
  OptionalFactoryDependency,
  Type,
} from "@nestjs/common";
import {
  InvalidOptionError,
  type HoldfastOptions,
  type Resilience,
  type Store,
  type WorkOptions,
} from "holdfast";
import type { StoreOfUrlOptions } from "holdfast/connect";
import { refuseUnknown } from "./refuse-unknown.ts";

/** As `new Holdfast` takes them, those aside that this module has its own words for. */
type LibraryOptions = Omit<HoldfastOptions, "store" | "resilient" | "work">;

export interface HoldfastModuleOptions extends LibraryOptions {
  readonly store?: Store | undefined;
  /** Instead of `store`: `sqlite:jobs.db`, `postgres://…`, `redis://…`, `mongodb://…`. */
  readonly url?: string | undefined;
  /** With `url`, in SQLite and PostgreSQL: queues as tables to read with SQL. */
  readonly views?: StoreOfUrlOptions["views"];
  /** Instead of `ledger`: a store of its own for failures and audits. */
  readonly ledgerUrl?: string | undefined;
  readonly resilient?: Resilience | undefined;
  /** Of this process's worker; false: this process enqueues, and works on nothing. */
  readonly work?: WorkOptions | false | undefined;
  /**
   * When the worker starts. `"bootstrap"`, the default: in `onApplicationBootstrap`, after every `onModuleInit`.
   * `"manual"`: when `HoldfastRunner.start()` is called.
   */
  readonly start?: "bootstrap" | "manual" | undefined;
  /** Where types go that are known by their name only. Default `default`. */
  readonly defaultQueue?: string | undefined;
  /** A line for each start and end of a job, through Nest's logger. Default true. */
  readonly jobLogs?: boolean | undefined;
  /** Errors of Holdfast become answers: 404, 409, 422, 429, 503. Default true. */
  readonly exceptionFilter?: boolean | undefined;
}

/** For `useClass` and `useExisting`. */
export interface HoldfastOptionsFactory {
  createHoldfastOptions(): HoldfastModuleOptions | Promise<HoldfastModuleOptions>;
}

export interface HoldfastAsyncOptions extends Pick<ModuleMetadata, "imports" | "providers"> {
  readonly useFactory?:
    ((...args: never[]) => HoldfastModuleOptions | Promise<HoldfastModuleOptions>) | undefined;
  readonly inject?: (InjectionToken | OptionalFactoryDependency)[] | undefined;
  readonly useClass?: Type<HoldfastOptionsFactory> | undefined;
  readonly useExisting?: InjectionToken | undefined;
}

const LIBRARY = [
  ...["store", "ledger", "resilient", "jobs", "logger", "retention", "maxPayloadBytes"],
  ...["maxAttempts", "work", "lock", "appVersion", "redact", "alerts", "archive", "stats"],
  ...["runtime", "extensions"],
];
const OWN = [
  ...["url", "views", "ledgerUrl", "start", "defaultQueue", "jobLogs", "exceptionFilter"],
];
const ASYNC = ["imports", "providers", "useFactory", "inject", "useClass", "useExisting"];

export function checkModuleOptions(options: HoldfastModuleOptions): HoldfastModuleOptions {
  refuseUnknown("HoldfastModule.forRoot", options, [...LIBRARY, ...OWN]);
  const { url, views, store, ledger, ledgerUrl, start, work } = options;
  if (views !== undefined && url === undefined) {
    throw new InvalidOptionError(
      "HoldfastModule.forRoot takes views with a url: a store has its own, sqliteStore({ file, views })",
    );
  }
  if (url !== undefined && store !== undefined) {
    throw new InvalidOptionError("HoldfastModule.forRoot takes a url or a store, not both");
  }
  if (url === undefined && store === undefined && options.resilient !== "inline") {
    throw new InvalidOptionError(
      'HoldfastModule.forRoot needs a store: { url: "sqlite:jobs.db" }, or { store: sqliteStore({ file }) }',
    );
  }
  if (ledgerUrl !== undefined && ledger !== undefined) {
    throw new InvalidOptionError("HoldfastModule.forRoot takes a ledgerUrl or a ledger, not both");
  }
  if (start !== undefined && start !== "bootstrap" && start !== "manual") {
    throw new InvalidOptionError('start is "bootstrap" or "manual"');
  }
  if ((work as unknown) === true) {
    throw new InvalidOptionError("work is false, or options of a worker: { concurrency: 10 }");
  }
  for (const name of ["jobLogs", "exceptionFilter"] as const) {
    const value: unknown = options[name];
    if (value === undefined || typeof value === "boolean") continue;
    throw new InvalidOptionError(`${name} is true or false`);
  }
  return options;
}

export function checkAsyncOptions(options: HoldfastAsyncOptions): HoldfastAsyncOptions {
  refuseUnknown("HoldfastModule.forRootAsync", options, ASYNC);
  const { useFactory, useClass, useExisting } = options;
  const ways = [useFactory, useClass, useExisting].filter((way) => way !== undefined);
  if (ways.length === 1) return options;
  throw new InvalidOptionError(
    "HoldfastModule.forRootAsync takes one of useFactory, useClass and useExisting",
  );
}
