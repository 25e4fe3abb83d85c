/** Why a job is not running, or what it does instead: one sentence each, with what would end it. */
import type { Hold } from "../../core/line.ts";
import type { StoredJob } from "../../core/job.ts";

export type ReasonKind =
  | "finished"
  | "leased"
  | "due later"
  | "held"
  | "cooldown"
  | "breaker"
  | "rate"
  | "no worker"
  | "unknown type"
  | "full"
  | "suspect"
  | "behind"
  | "ledger away";

export interface Reason {
  readonly kind: ReasonKind;
  readonly message: string;
  /** What would end it. */
  readonly remedy: string;
  /** When it ends by itself, as far as that is known. */
  readonly until: Date | null;
  /** The jobs that are in its way, some of them. */
  readonly jobs: readonly string[];
}

const NONE = { until: null, jobs: [] } as const;

export function finished(job: StoredJob): Reason {
  const { status, reason, error, finishedAt } = job;
  const when = finishedAt === null ? "" : ` at ${new Date(finishedAt).toISOString()}`;
  const why = [reason, error?.message].filter((one) => typeof one === "string" && one !== "");
  const said = why.length > 0 ? `: ${why.join(": ")}` : "";
  return {
    ...NONE,
    kind: "finished",
    message: `It is ${status}${when}${said}.`,
    remedy:
      status === "succeeded" ? "Nothing: it is done." : `hf.retry("${job.id}") runs it again.`,
  };
}

export function leased({ worker, leasedAt, leaseUntil, attempts }: StoredJob): Reason {
  const since = leasedAt === null ? "" : ` since ${new Date(leasedAt).toISOString()}`;
  return {
    ...NONE,
    kind: "leased",
    message: `Worker ${worker} has it${since}, attempt ${attempts}.`,
    remedy: "It runs. If its worker is lost, another one gets it when the lease is over.",
    until: leaseUntil === null ? null : new Date(leaseUntil),
  };
}

export function dueLater({ id, runAt, error }: StoredJob): Reason {
  const at = new Date(runAt);
  const retry = error === null ? "" : ` Its last attempt failed: ${error.message}`;
  return {
    ...NONE,
    kind: "due later",
    message: `It is due at ${at.toISOString()}.${retry}`,
    remedy: `Time. hf.operations.plan({ action: "reschedule", … }) makes ${id} due now.`,
    until: at,
  };
}

export function held(line: string, hold: Hold): Reason {
  const { owner, reason, by, until } = hold;
  const isPause = owner === "pause";
  const who = by === null ? "" : ` by ${by}`;
  const end = until === null ? "" : ` until ${new Date(until).toISOString()}`;
  return {
    ...NONE,
    kind: "held",
    message: `${line} is ${isPause ? "paused" : `held by ${owner}`}${isPause ? who : ""}: ${reason}${end}.`,
    remedy: isPause ? "hf.resume, with the same target." : `What ${owner} waits for.`,
    until: until === null ? null : new Date(until),
  };
}

export function gated(kind: "cooldown" | "breaker" | "rate" | "forced", gate: Gated): Reason {
  return {
    ...NONE,
    kind: kind === "forced" ? "breaker" : kind,
    message: `Gate ${gate.gate} ${gate.message}.`,
    remedy:
      kind === "rate"
        ? `Time, or a higher rate: hf.gates.set("${gate.gate}", …).`
        : `Time, or hf.gates.force("${gate.gate}", "closed").`,
    until: gate.until,
  };
}

interface Gated {
  readonly gate: string;
  readonly message: string;
  readonly until: Date | null;
}

export function noWorker(queue: string, quiet: readonly string[]): Reason {
  const isQuiet = quiet.length > 0;
  return {
    ...NONE,
    kind: "no worker",
    message: isQuiet
      ? `Every worker of queue ${queue} was told to be quiet: ${quiet.join(", ")}.`
      : `No live worker takes queue ${queue}.`,
    remedy: isQuiet
      ? `hf.workers.resume("${quiet[0]}").`
      : `Start one: hf.work({ queues: ["${queue}"] }).`,
  };
}

export function unknownType(type: string, queue: string): Reason {
  return {
    ...NONE,
    kind: "unknown type",
    message: `No live worker of queue ${queue} has a handler for ${type}.`,
    remedy: `Deploy one that has: hf.handle("${type}", …).`,
  };
}

export function full(line: string, cap: number, jobs: readonly string[]): Reason {
  return {
    ...NONE,
    kind: "full",
    message: `${line} lets ${cap} run at once, and so many do.`,
    remedy: "One of them ends, or hf.limit allows more.",
    jobs,
  };
}

export function suspect({ crashes }: StoredJob): Reason {
  return {
    ...NONE,
    kind: "suspect",
    message: `It was there at ${crashes} ends of its process, so it runs only beside no other suspect.`,
    remedy: "The suspects before it end.",
  };
}

export function ledgerAway(error: unknown): Reason {
  const said = error instanceof Error ? ` (${error.message})` : "";
  return {
    ...NONE,
    kind: "ledger away",
    message: `The ledger does not answer${said}: what it is to know of this job waits for it.`,
    remedy:
      "The ledger's store answers again. A job with a lock waits two seconds for it, then runs.",
  };
}

export function behind(before: number, atLeast: string, waitMs: number | null): Reason {
  const guess =
    waitMs === null
      ? ""
      : ` At the rate of the last ten minutes that takes ${words(waitMs)}, longer where other lines take turns with it.`;
  return {
    ...NONE,
    kind: "behind",
    message: `${before === 1 ? "One job waits" : `${before}${atLeast} jobs wait`} before it in its line.${guess}`,
    remedy: "More workers, more slots, or a higher priority for the next one like it.",
  };
}

function words(ms: number): string {
  if (ms < 2_000) return "about a second";
  if (ms < 120_000) return `about ${Math.round(ms / 1_000)} seconds`;
  return `about ${Math.round(ms / 60_000)} minutes`;
}
