/** The library's options from the environment: `new Holdfast({ store, ...optionsFromEnv() })`. */
import { InvalidOptionError } from "../core/errors.ts";
import { checkFunction, checkObject, checkOptions } from "../core/option-checks.ts";
import type { Settings } from "../holdfast-options.ts";
import { readSettings } from "./read-settings.ts";
import { SETTING_NAMES, type SettingValues } from "./settings-table.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** What the environment may say of a Holdfast; what it does not say is not there. */
export type EnvOptions = Pick<
  Settings<readonly never[]>,
  | "work"
  | "lock"
  | "maxAttempts"
  | "retention"
  | "redact"
  | "alerts"
  | "maxPayloadBytes"
  | "appVersion"
> & {
  readonly resilient?: "inline";
};

export interface FromEnvOptions {
  /** Told of what is doubtful but no reason to stop. Default `console.warn`. */
  readonly onWarning?: ((warning: string) => void) | undefined;
}

/** Throws one `InvalidOptionError` that names every bad value. */
export function optionsFromEnv(
  env: Readonly<Record<string, string | undefined>> = process.env,
  options: FromEnvOptions = {},
): EnvOptions {
  checkObject("the environment", env);
  checkOptions("optionsFromEnv", options, ["onWarning"]);
  const { onWarning = (warning) => console.warn(`holdfast: ${warning}`) } = options;
  checkFunction("onWarning", onWarning);
  const { values, problems, warnings } = readSettings({ env });
  refuseProblems("the environment", problems);
  for (const warning of warnings) onWarning(warning);
  return optionsOf(values);
}

export function refuseProblems(where: string, problems: readonly string[]): void {
  if (!Array.isArray(problems)) throw new InvalidOptionError("problems must be a list of texts");
  if (problems.length === 0) return;
  throw new InvalidOptionError(`${where} cannot be used: ${problems.join("; ")}`);
}

/** The same from values that were read elsewhere, too. */
export function optionsOf(values: SettingValues): EnvOptions {
  checkOptions("optionsOf", values, SETTING_NAMES);
  const {
    maxAttempts,
    lockStaleMinutes,
    deadRetentionDays,
    redactKeys,
    maxPayloadBytes,
    appVersion,
  } = values;
  const { spikeFailures: failures } = values;
  const maxAgeMs = (deadRetentionDays ?? 0) * DAY_MS;
  const work = workOf(values);
  return {
    ...(Object.keys(work).length > 0 && { work }),
    ...(maxAttempts !== undefined && { maxAttempts }),
    ...(lockStaleMinutes !== undefined && { lock: { staleMs: lockStaleMinutes * MINUTE_MS } }),
    ...(values.resilient === true && { resilient: "inline" as const }),
    ...(deadRetentionDays !== undefined && {
      retention: { dead: { maxAgeMs }, ledger: { failure: { maxAgeMs } } },
    }),
    // A threshold alone asks for no other alert.
    ...(failures !== undefined && { alerts: { spike: { failures }, dead: false } }),
    ...(redactKeys !== undefined && { redact: { keys: redactKeys } }),
    ...(maxPayloadBytes !== undefined && { maxPayloadBytes }),
    ...(appVersion !== undefined && { appVersion }),
  };
}

function workOf(values: SettingValues): NonNullable<EnvOptions["work"]> {
  const { queues, shards, concurrency, pollMs, renewMs, graceMs } = values;
  // Alone it raises the lease: renewed every 10 s, a lease of 10 s would be lost with one renewal.
  const leaseMs = values.leaseMs ?? (renewMs === undefined ? undefined : renewMs * 3);
  return {
    ...(queues !== undefined && { queues }),
    // What is no number is refused where it is used.
    ...(shards !== undefined && { shards: shards.map(Number) }),
    ...(concurrency !== undefined && { concurrency }),
    ...(pollMs !== undefined && { pollMs }),
    ...(leaseMs !== undefined && { leaseMs }),
    ...(renewMs !== undefined && { renewMs }),
    ...(graceMs !== undefined && { graceMs }),
  };
}
