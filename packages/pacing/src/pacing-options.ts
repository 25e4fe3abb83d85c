/** What `new Pacing` takes, checked. */
import { InvalidOptionError, type BreakerOptions, type JobOptions } from "holdfast";
import { checkShards, MOST_SHARDS } from "./names.ts";
import { checkFunction, checkOptions, checkWhole } from "./option-checks.ts";
import type { DoActivity } from "./run-activity.ts";
import type { CreateRecord } from "./run-record.ts";
import { checkThinning, type ThinningOptions, type ThinningRule } from "./thinning.ts";

export interface PacingOptions {
  /** Creates a record. Left out: this process plans and looks, and runs no records. */
  readonly create?: CreateRecord | undefined;
  /** Does an activity: a note, a call, a task, a ticket. */
  readonly act?: DoActivity | undefined;
  /** Over how many queues simulations are spread. Default 1. */
  readonly shards?: number | undefined;
  /** Which of them a worker of `hf.work()` takes; `pacing.work` says it for itself. Default all. */
  readonly workShards?: "all" | number | readonly number[] | undefined;
  /** Of records and activities alike, as for any job. */
  readonly retry?: JobOptions["retry"];
  readonly timeoutMs?: JobOptions["timeoutMs"];
  readonly classify?: JobOptions["classify"];
  /** When optional work is left out. False: never. */
  readonly thinning?: ThinningOptions | false | undefined;
  /**
   * What holds all calls back: a cooldown after a 429, a breaker. False: nothing. The process that starts a
   * simulation sets it for the fleet; one that does not name it leaves what is set as it is.
   */
  readonly outbound?: OutboundOptions | false | undefined;
  /** How often a running simulation is looked after. Default 30 s. */
  readonly watchMs?: number | undefined;
}

export interface OutboundOptions {
  /** Default true. */
  readonly cooldown?: boolean | undefined;
  /** Default 20 failures within a minute; half a minute open. Null: none. */
  readonly breaker?: BreakerOptions | null | undefined;
}

interface CheckedOutbound {
  readonly cooldown: boolean;
  readonly breaker: BreakerOptions | null;
  /** False: these are the defaults, for a fleet that has nothing else. */
  readonly isNamed: boolean;
}

export interface CheckedOptions {
  readonly create: CreateRecord | null;
  readonly act: DoActivity | null;
  readonly shards: number;
  readonly workShards: readonly number[];
  readonly words: Pick<JobOptions, "retry" | "timeoutMs" | "classify">;
  readonly thinning: ThinningRule | null;
  readonly outbound: CheckedOutbound | null;
  readonly watchMs: number;
}

const OPTIONS = [
  ...["create", "act", "shards", "retry", "timeoutMs", "classify", "thinning", "outbound"],
  ...["watchMs", "workShards"],
];
const BREAKER: BreakerOptions = { failures: 20, withinMs: 60_000, openMs: 30_000, probes: 1 };

export function checkPacingOptions(options: PacingOptions): CheckedOptions {
  checkOptions("new Pacing", options, OPTIONS);
  const { create, act, retry, timeoutMs, classify } = options;
  if (create !== undefined) checkFunction("create", create);
  if (act !== undefined) checkFunction("act", act);
  const shards = checkWhole("shards", options.shards ?? 1, 1, MOST_SHARDS);
  return {
    ...{ create: create ?? null, act: act ?? null, shards },
    workShards: checkShards(options.workShards, shards),
    words: {
      ...(retry !== undefined && { retry }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(classify !== undefined && { classify }),
    },
    thinning: checkThinning(options.thinning),
    outbound: checkOutbound(options.outbound),
    watchMs: checkWhole("watchMs", options.watchMs ?? 30_000, 100, 3_600_000),
  };
}

function checkOutbound(given: OutboundOptions | false | undefined): CheckedOutbound | null {
  if (given === false) return null;
  checkOptions("outbound", given ?? {}, ["cooldown", "breaker"]);
  const { cooldown = true, breaker = BREAKER } = given ?? {};
  if (typeof cooldown !== "boolean")
    throw new InvalidOptionError("outbound.cooldown is true or false");
  return cooldown || breaker ? { cooldown, breaker, isNamed: given !== undefined } : null;
}

/** `SIMCRM_QUEUE_SHARDS`, for `new Pacing`. */
export function pacingFromEnv(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Pick<PacingOptions, "shards"> {
  const shards = wholeFrom(env, "SIMCRM_QUEUE_SHARDS", 1);
  return shards === null ? {} : { shards };
}

/** `HOLDFAST_SHARD_INDEX` or `SIMCRM_SHARD_INDEX`, one or several (`0,2`), for `pacing.work` or `workShards`. */
export function shardsFromEnv(
  env: Readonly<Record<string, string | undefined>> = process.env,
): "all" | number[] {
  const name = env["HOLDFAST_SHARD_INDEX"] ? "HOLDFAST_SHARD_INDEX" : "SIMCRM_SHARD_INDEX";
  const text = env[name]?.trim() ?? "";
  if (text === "" || text === "all") return "all";
  return text.split(",").map((part) => wholeOf(name, part.trim(), 0));
}

function wholeFrom(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  min: number,
): number | null {
  const text = env[name]?.trim() ?? "";
  return text === "" ? null : wholeOf(name, text, min);
}

function wholeOf(name: string, text: string, min: number): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  return checkWhole(name, value, min, MOST_SHARDS);
}
