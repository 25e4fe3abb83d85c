/**
 * What the environment says, read once and checked as a whole: a person mends everything that is wrong in one go.
 * Names of the five systems are understood as they are (docs/reference/env.md), and a few are the back office's own.
 */
import { InvalidOptionError } from "holdfast";
import { optionsOf, readSettings, type EnvOptions } from "holdfast/env";
import { textOf, wholeOf, type Env } from "./env-values.ts";
import { readCrm, type CrmSettings } from "../crm/crm-settings.ts";
import { DATA_SCHEMES } from "../data/data-of-url.ts";
import { readImports, type ImportSettings } from "../imports/import-settings.ts";
import { readSimulations, type SimulationSettings } from "../simulations/simulation-settings.ts";

export interface Settings {
  readonly port: number;
  readonly host: string;
  /** Where jobs are. */
  readonly jobsUrl: string;
  /** Where failures, audits and locks are; undefined: with the jobs. */
  readonly ledgerUrl: string | undefined;
  /** Where the business's data are. */
  readonly dataUrl: string;
  /** Null: one is drawn, and logins end with the process. */
  readonly jwtSecret: string | null;
  readonly jwtExpiresS: number;
  /** Of all users of the sample. Null: each has the one that `npm start` prints. */
  readonly samplePassword: string | null;
  /** Null: mail goes to the outbox only. */
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  /** Queue of system 1. */
  readonly queue: string;
  readonly concurrency: number;
  readonly retentionDays: number;
  readonly isResilient: boolean;
  readonly imports: ImportSettings;
  readonly crm: CrmSettings;
  readonly simulations: SimulationSettings;
  /** For the library: locks, alerts, redaction, leases, … */
  readonly options: EnvOptions;
  readonly warnings: readonly string[];
}

/** Nest finds it by this. */
export const SETTINGS = Symbol("settings");

const DEFAULT_PORT = 5_000;
const DEFAULT_JOBS = "sqlite:holdfast.db";
const DEFAULT_DATA = "sqlite:backoffice.db";
export const DEFAULT_QUEUE = "ai-cfo-jobs";
const DEFAULT_CONCURRENCY = 4;
const RETENTION_DAYS = 14;
const EIGHT_HOURS_S = 8 * 3_600;
const MONTH_S = 30 * 86_400;
const LEAST_SECRET = 32;
/** As for a password that a user chooses. */
const LEAST_PASSWORD = 12;
const STORES = [...DATA_SCHEMES, "redis", "rediss", "memory"];

/** Throws one `InvalidOptionError` that names every bad value. */
export function readEnv(env: Env): Settings {
  // Names system 1's queue here; the worker also works on the others.
  const { WORKER_QUEUE_NAME: queue = "", ...rest } = env;
  const read = readSettings({ env: rest });
  const problems = [...read.problems];
  const { url, ledgerUrl, concurrency, deadRetentionDays, resilient } = read.values;
  const databaseUrl = textOf(env, "DATABASE_URL");
  checkScheme("HOLDFAST_URL", url, STORES, problems);
  checkScheme("HOLDFAST_LEDGER_URL", ledgerUrl, STORES, problems);
  checkScheme("DATABASE_URL", databaseUrl, DATA_SCHEMES, problems);
  checkQueue(queue, problems);
  const host = textOf(env, "HOST") ?? "127.0.0.1";
  const jwtSecret = textOf(env, "JWT_SECRET") ?? null;
  checkSecret(jwtSecret, host, problems);
  const samplePassword = textOf(env, "SAMPLE_PASSWORD") ?? null;
  if (samplePassword !== null && samplePassword.length < LEAST_PASSWORD) {
    problems.push(`SAMPLE_PASSWORD takes ${LEAST_PASSWORD} characters or more`);
  }
  const smtpUrl = textOf(env, "SMTP_URL") ?? null;
  checkScheme("SMTP_URL", smtpUrl ?? undefined, ["smtp", "smtps"], problems);
  const whole = (name: string, range: { min: number; max: number; or: number }) =>
    wholeOf(env, name, range, problems);
  const port = whole("PORT", { min: 0, max: 65_535, or: DEFAULT_PORT });
  const jwtExpiresS = whole("JWT_EXPIRES_S", { min: 1, max: MONTH_S, or: EIGHT_HOURS_S });
  const crm = readCrm(env, problems);
  const simulations = readSimulations(env, problems);
  if (problems.length > 0) {
    throw new InvalidOptionError(`the environment cannot be used:\n  ${problems.join("\n  ")}`);
  }
  const jobsUrl = url ?? (isSharable(databaseUrl) ? databaseUrl : DEFAULT_JOBS);
  return {
    ...{ port, host, jobsUrl, jwtSecret, jwtExpiresS, samplePassword, smtpUrl },
    ledgerUrl: ledgerUrl ?? durableLedger(jobsUrl, databaseUrl),
    dataUrl: databaseUrl ?? (isSharable(jobsUrl) ? jobsUrl : DEFAULT_DATA),
    mailFrom: textOf(env, "MAIL_FROM") ?? "backoffice@localhost",
    queue: queue === "" ? DEFAULT_QUEUE : queue,
    concurrency: concurrency ?? DEFAULT_CONCURRENCY,
    retentionDays: deadRetentionDays ?? RETENTION_DAYS,
    isResilient: resilient === true,
    imports: readImports(env),
    ...{ crm, simulations },
    options: optionsOf(read.values),
    warnings: read.warnings,
  };
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Jobs and data in one database can commit together. */
function isSharable(url: string | undefined): url is string {
  return url !== undefined && DATA_SCHEMES.some((scheme) => url.startsWith(`${scheme}:`));
}

/** Redis may be flushed: what failed is then kept with the data, if those are elsewhere. */
function durableLedger(jobsUrl: string, databaseUrl: string | undefined): string | undefined {
  return jobsUrl.startsWith("redis") ? databaseUrl : undefined;
}

function checkScheme(
  name: string,
  url: string | undefined,
  schemes: readonly string[],
  problems: string[],
): void {
  if (url === undefined) return;
  const [, scheme = "", rest = ""] = /^([a-z+]+):(.*)$/is.exec(url) ?? [];
  const isKnown = schemes.includes(scheme.toLowerCase());
  const isServer = rest.startsWith("//");
  // Not shown: it may hold a password.
  if (!isKnown) problems.push(`${name} begins with ${schemes.map((one) => `${one}:`).join(", ")}`);
  else if (scheme === "sqlite" && rest === "") problems.push(`${name} needs a file: sqlite:my.db`);
  else if (scheme !== "sqlite" && scheme !== "memory" && !(isServer && isReadable(url))) {
    problems.push(`${name} is no URL such as ${scheme}://user@host/database`);
  }
}

function isReadable(url: string): boolean {
  // A URL of several hosts is one for MongoDB's driver only.
  return url.startsWith("mongodb") || URL.canParse(url);
}

function checkQueue(queue: string, problems: string[]): void {
  if (queue === "" || /^[\w.:-]{1,100}$/.test(queue)) return;
  problems.push("WORKER_QUEUE_NAME takes 1 to 100 letters, digits, and . : _ -");
}

function checkSecret(secret: string | null, host: string, problems: string[]): void {
  if (secret !== null && secret.length < LEAST_SECRET) {
    problems.push(`JWT_SECRET takes ${LEAST_SECRET} characters or more`);
  }
  if (secret === null && !isLoopback(host)) {
    problems.push(
      `JWT_SECRET is needed where others can reach the back office (HOST is ${host.slice(0, 60)}): ${LEAST_SECRET} random characters or more`,
    );
  }
}
