/** Why a job is not running: every reason that holds now, the most decisive first. It asks, and changes nothing. */
import { DEFAULT_MAX_CRASHES } from "../../core/contract.ts";
import { InvalidOptionError } from "../../core/errors.ts";
import { jobNotFound } from "../../core/job-not-found.ts";
import type { StoredJob } from "../../core/job.ts";
import { COUNTED_TO, type LineState, type QueueState } from "../../core/line.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import type { Gates } from "../gates/gates.ts";
import type { Stats } from "../stats/stats.ts";
import type { Workers } from "../workers/workers.ts";
import * as because from "./reason.ts";
import type { Reason } from "./reason.ts";

export interface WhyView {
  readonly id: string;
  readonly status: StoredJob["status"];
  /** The first reason, in a sentence. */
  readonly summary: string;
  readonly reasons: readonly Reason[];
}

export interface WhyParts {
  /** Resolves once the store is open. */
  readonly host: () => Promise<ExtensionHost>;
  readonly gates: Gates;
  readonly workers: Workers;
  readonly stats: Stats;
  /** Failures, audits and locks are in another store. */
  readonly isLedgerElsewhere: boolean;
}

/** Of the jobs in its way, so many are named. */
const NAMED = 5;
const RATE_OF_MS = 10 * 60_000;
/** Asked for to hear whether there is an answer. */
const ANY_RECORD = "holdfast/why";

export async function whyNot(parts: WhyParts, id: string): Promise<WhyView> {
  if (typeof id !== "string" || id === "") {
    throw new InvalidOptionError("hf.why takes the id of a job, as its receipt has it");
  }
  const host = await parts.host();
  const [job] = await host.jobs.get([{ id }]);
  if (typeof job !== "object" || job === null) throw jobNotFound(id);
  const reasons = await reasonsOf(parts, host, job);
  const summary =
    reasons[0]?.message ?? "Nothing holds it back: a worker will take it in a moment.";
  return { id, status: job.status, summary, reasons };
}

async function reasonsOf(
  parts: WhyParts,
  host: ExtensionHost,
  job: StoredJob,
): Promise<readonly Reason[]> {
  if (job.status === "processing") return [because.leased(job), ...(await ledgerOf(parts, host))];
  if (job.status !== "queued") return [because.finished(job), ...(await ledgerOf(parts, host))];
  const { queue, group } = job;
  const place = { queue, ...(group !== "" && { group }) };
  const [now, lines, gates, fleet] = await Promise.all([
    host.jobs.now(),
    linesOf(host, queue, group),
    parts.gates.held(place),
    fleetReasons(parts.workers, job),
  ]);
  return [
    ...(job.runAt > now ? [because.dueLater(job)] : []),
    ...holdsOf(lines, job),
    ...gates.map((gate) => because.gated(gate.kind, gate)),
    ...fleet,
    ...(await capsOf(host, lines, job)),
    ...(job.crashes === DEFAULT_MAX_CRASHES - 1 ? [because.suspect(job)] : []),
    ...(job.runAt > now ? [] : await behindOf(parts, host, job)),
  ];
}

/** No job waits for a ledger for long; but what should be there of it may wait. */
async function ledgerOf(
  { isLedgerElsewhere }: WhyParts,
  { lastingRecords }: ExtensionHost,
): Promise<Reason[]> {
  if (!isLedgerElsewhere) return [];
  try {
    await lastingRecords((records) => records.read([ANY_RECORD]));
    return [];
  } catch (error) {
    return [because.ledgerAway(error)];
  }
}

interface Lines {
  readonly queue: QueueState | null;
  readonly line: LineState | null;
}

async function linesOf({ lines }: ExtensionHost, queue: string, group: string): Promise<Lines> {
  const page = await lines.lines(queue, { limit: 1, from: group });
  return { queue: page.queue, line: page.lines.find((one) => one.group === group) ?? null };
}

/** Holds of gates are told by the gates themselves, which know more. */
function holdsOf({ queue, line }: Lines, job: StoredJob): Reason[] {
  const own = (holds: QueueState["holds"]) =>
    holds.filter(({ owner }) => !owner.startsWith("gate:"));
  return [
    ...own(queue?.holds ?? []).map((hold) => because.held(`Queue ${job.queue}`, hold)),
    ...own(line?.holds ?? []).map((hold) => because.held(nameOf(job), hold)),
  ];
}

async function fleetReasons(workers: Workers, { queue, type }: StoredJob): Promise<Reason[]> {
  const taking = (await workers.list()).filter(({ queues }) => queues.includes(queue));
  const awake = taking.filter(({ isQuiet }) => !isQuiet);
  if (awake.length === 0)
    return [
      because.noWorker(
        queue,
        taking.map(({ id }) => id),
      ),
    ];
  return awake.some(({ types }) => types.includes(type)) ? [] : [because.unknownType(type, queue)];
}

async function capsOf(
  host: ExtensionHost,
  { queue, line }: Lines,
  job: StoredJob,
): Promise<Reason[]> {
  const reasons: Reason[] = [];
  const running = async (group?: string) => {
    const filter = { status: ["processing"] as const, queue: job.queue, ...(group && { group }) };
    const { jobs } = await host.jobs.find(filter, { limit: NAMED, without: "payloads" });
    return jobs.map(({ id }) => id);
  };
  const ofQueue = queue?.maxActive ?? null;
  if (queue && ofQueue !== null && queue.active >= ofQueue) {
    reasons.push(because.full(`Queue ${job.queue}`, ofQueue, await running()));
  }
  const ofGroup = line?.maxActive ?? queue?.maxActivePerGroup ?? null;
  if (line && ofGroup !== null && line.active >= ofGroup) {
    reasons.push(because.full(nameOf(job), ofGroup, await running(job.group)));
  }
  return reasons;
}

async function behindOf(
  { stats }: WhyParts,
  host: ExtensionHost,
  job: StoredJob,
): Promise<Reason[]> {
  const before = await host.jobs.place({ id: job.id, queue: job.queue });
  if (before === null || before === 0) return [];
  const { finished } = await stats.read({ queue: job.queue, lastMs: RATE_OF_MS });
  const done = finished.succeeded + finished.dead + finished.cancelled;
  const waitMs = done === 0 ? null : (before / done) * RATE_OF_MS;
  return [because.behind(before, before >= COUNTED_TO ? " or more" : "", waitMs)];
}

function nameOf({ queue, group }: StoredJob): string {
  return group === ""
    ? `The line without a group of queue ${queue}`
    : `Group ${group} of queue ${queue}`;
}
