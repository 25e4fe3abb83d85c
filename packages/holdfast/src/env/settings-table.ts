/**
 * Every setting that can be made outside of code: its name in a configuration file and on the command line,
 * its names in the environment, and what it sets. `docs/reference/env.md` is made from this table.
 */
export type SettingKind =
  | { readonly is: "whole"; readonly min: number; readonly max: number }
  | { readonly is: "text" }
  /** Names with commas between them. */
  | { readonly is: "list" }
  | { readonly is: "yes or no" }
  /** Shown without user, password and parameters. */
  | { readonly is: "url" }
  /** Never shown. */
  | { readonly is: "secret" }
  | { readonly is: "one of"; readonly words: readonly string[] };

export interface Setting {
  readonly kind: SettingKind;
  /** The first is our own; the others are names that users of other systems have. All say the same. */
  readonly env: readonly string[];
  /** Who reads it: the library's options, or the command line and the server only. */
  readonly for: "library" | "command line" | "server";
  /** What it sets, for people. */
  readonly sets: string;
  /** What others have where it is not set, for people. */
  readonly theirs?: string;
  /** What we have where it is not set, for people. */
  readonly ours: string;
}

const DAY_MS = 86_400_000;
const WHOLE = { is: "whole" } as const;
const YEARS = 3_650;

export const SETTINGS = {
  url: {
    kind: { is: "url" },
    env: ["HOLDFAST_URL"],
    for: "command line",
    sets: "the store of the jobs: `sqlite:jobs.db`, `postgres://…`, `redis://…`, `mongodb://…`",
    ours: "`sqlite:holdfast.db`",
  },
  ledgerUrl: {
    kind: { is: "url" },
    env: ["HOLDFAST_LEDGER_URL"],
    for: "command line",
    sets: "the store of the ledger, where it is another one",
    ours: "with the jobs",
  },
  jobs: {
    kind: { is: "text" },
    env: ["HOLDFAST_JOBS"],
    for: "command line",
    sets: "the module that defines the jobs: `work --jobs`",
    ours: "none",
  },
  logLevel: {
    kind: { is: "one of", words: ["debug", "info", "warn", "error", "silent"] },
    env: ["HOLDFAST_LOG_LEVEL"],
    for: "command line",
    sets: "which lines `work` and `serve` log",
    ours: "`info`",
  },
  queues: {
    kind: { is: "list" },
    env: ["HOLDFAST_QUEUES", "WORKER_QUEUE_NAME"],
    for: "library",
    sets: "the queues of `work` and `serve`, and of the classic routes",
    theirs: "`ai-cfo-jobs`",
    ours: "the queues of all handlers; `default` for the classic routes",
  },
  shards: {
    kind: { is: "list" },
    env: ["HOLDFAST_SHARD_INDEX", "SIMCRM_SHARD_INDEX"],
    for: "library",
    sets: "`shards` of `work`: of queues that have shards, only these",
    theirs: "none",
    ours: "all of them",
  },
  concurrency: {
    kind: { ...WHOLE, min: 1, max: 10_000 },
    env: ["HOLDFAST_CONCURRENCY", "WORKER_CONCURRENCY", "QUEUE_CONCURRENCY"],
    for: "library",
    sets: "`concurrency` of `work`",
    theirs: "4",
    ours: "10",
  },
  pollMs: {
    kind: { ...WHOLE, min: 1, max: 60_000 },
    env: ["HOLDFAST_POLL_MS", "QUEUE_POLL_MS"],
    for: "library",
    sets: "`pollMs` of `work`; beyond 5000, jobs delayed by more than 5 s may start as late",
    theirs: "5000",
    ours: "1000",
  },
  leaseMs: {
    kind: { ...WHOLE, min: 50, max: 3_600_000 },
    env: ["HOLDFAST_LEASE_MS", "QUEUE_VISIBILITY_MS", "QUEUE_STUCK_THRESHOLD_MS"],
    for: "library",
    sets: "`leaseMs` of `work`; where two names differ the first wins, with a warning",
    theirs: "30000, 300000",
    ours: "10000",
  },
  renewMs: {
    kind: { ...WHOLE, min: 1, max: 1_800_000 },
    env: ["HOLDFAST_RENEW_MS", "QUEUE_HEARTBEAT_MS"],
    for: "library",
    sets: "`renewMs` of `work`; alone it raises the lease to three times that",
    theirs: "10000",
    ours: "3000",
  },
  graceMs: {
    kind: { ...WHOLE, min: 0, max: DAY_MS },
    env: ["HOLDFAST_GRACE_MS"],
    for: "library",
    sets: "`graceMs` of `work`: how long a stop waits for what runs",
    ours: "10000",
  },
  maxAttempts: {
    kind: { ...WHOLE, min: 1, max: 1_000 },
    env: ["HOLDFAST_MAX_ATTEMPTS", "QUEUE_MAX_ATTEMPTS"],
    for: "library",
    sets: "attempts of types that name none",
    theirs: "3, 5",
    ours: "5",
  },
  maxPayloadBytes: {
    kind: { ...WHOLE, min: 1, max: 3 * 1024 * 1024 },
    env: ["HOLDFAST_MAX_PAYLOAD_BYTES"],
    for: "library",
    sets: "`maxPayloadBytes`",
    ours: "1048576",
  },
  resilient: {
    kind: { is: "yes or no" },
    env: ["HOLDFAST_RESILIENT", "QUEUE_RESILIENT_MODE"],
    for: "library",
    sets: '`resilient: "inline"`: while the store is away a job runs in its caller',
    theirs: "false",
    ours: "false",
  },
  deadRetentionDays: {
    kind: { ...WHOLE, min: 1, max: YEARS },
    env: ["HOLDFAST_DEAD_RETENTION_DAYS", "JOB_DLQ_RETENTION_DAYS"],
    for: "library",
    sets: "how long dead jobs and the ledger's failures are kept",
    theirs: "14",
    ours: "14",
  },
  spikeFailures: {
    kind: { ...WHOLE, min: 1, max: 10_000 },
    env: ["HOLDFAST_SPIKE_FAILURES", "JOB_FAILURE_SPIKE_THRESHOLD"],
    for: "library",
    sets: "`alerts.spike.failures`",
    theirs: "10",
    ours: "10",
  },
  lockStaleMinutes: {
    kind: { ...WHOLE, min: 1, max: 60 * 24 * YEARS },
    env: ["HOLDFAST_LOCK_STALE_MINUTES", "JOB_LOCK_STALE_MINUTES"],
    for: "library",
    sets: "`lock.staleMs` of types that name none",
    theirs: "30",
    ours: "30",
  },
  redactKeys: {
    kind: { is: "list" },
    env: ["HOLDFAST_REDACT_KEYS"],
    for: "library",
    sets: "`redact.keys`: what is hidden besides password, token, secret, key, authorization",
    ours: "none",
  },
  appVersion: {
    kind: { is: "text" },
    env: ["HOLDFAST_APP_VERSION"],
    for: "library",
    sets: "`appVersion`",
    ours: "none",
  },
  host: {
    kind: { is: "text" },
    env: ["HOLDFAST_HOST"],
    for: "server",
    sets: "the address that `serve` listens on",
    ours: "`127.0.0.1`",
  },
  port: {
    kind: { ...WHOLE, min: 0, max: 65_535 },
    env: ["HOLDFAST_PORT"],
    for: "server",
    sets: "the port that `serve` listens on",
    ours: "4680",
  },
  adminToken: {
    kind: { is: "secret" },
    env: ["HOLDFAST_ADMIN_TOKEN"],
    for: "server",
    sets: "a token of the role admin, to begin with",
    ours: "on loopback one is made at the first start",
  },
  readOnly: {
    kind: { is: "yes or no" },
    env: ["HOLDFAST_READ_ONLY"],
    for: "server",
    sets: "`serve` refuses every write",
    ours: "false",
  },
  classic: {
    kind: { is: "yes or no" },
    env: ["HOLDFAST_CLASSIC"],
    for: "server",
    sets: "`serve` also answers on the endpoints of the systems that people come from",
    ours: "false",
  },
  classicAnonymous: {
    kind: { is: "one of", words: ["viewer", "operator", "admin"] },
    env: ["HOLDFAST_CLASSIC_ANONYMOUS"],
    for: "server",
    sets: "the role of callers of those endpoints without a token, from this machine only",
    ours: "none: they need a token",
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;

type ValueOf<Kind extends SettingKind> = Kind extends { readonly is: "whole" }
  ? number
  : Kind extends { readonly is: "list" }
    ? readonly string[]
    : Kind extends { readonly is: "yes or no" }
      ? boolean
      : string;

/** What was set; what was not is not there. */
export type SettingValues = {
  readonly [Name in SettingName]?: ValueOf<(typeof SETTINGS)[Name]["kind"]>;
};

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** Names of ours that are no settings: other parts of the repository read them. */
export const OTHER_NAMES = /^HOLDFAST_(TEST|PROPERTY|SIM|CHAOS|BENCH)_/;
