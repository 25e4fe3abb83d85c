/**
 * Takes the jobs of another system into a store. The id of a job here is made from its id there: whatever is there
 * already is not taken twice, so an import that was killed is run again.
 */
import { createHash } from "node:crypto";
import { adoptJobs, type AdoptedJob } from "holdfast/move";
import type { Store } from "holdfast";
import { textOf, type ForeignJob, type Source, type System } from "./source.ts";

const MOST_MESSAGE = 2_000;
const MOST_STACK = 4_000;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;
const MOST_NAMED = 20;

export interface Taken {
  readonly waiting: number;
  readonly delayed: number;
  readonly failed: number;
  readonly added: number;
  /** Were there before. */
  readonly there: number;
  /** The store did not take them, or they are not there now as they are at the source. */
  readonly missing: readonly string[];
  readonly byType: Readonly<Record<string, number>>;
}

export interface TakeOptions {
  readonly system: System;
  /** The queue of a job here. */
  readonly queueOf: (job: Pick<ForeignJob, "type" | "queue">) => string;
  /** Null: a dry run. */
  readonly to: Store | null;
  readonly onProgress: (done: number) => void;
}

export async function takeOver(source: Source, options: TakeOptions): Promise<Taken> {
  const tally = { waiting: 0, delayed: 0, failed: 0, added: 0, there: 0 };
  const byType: Record<string, number> = {};
  const missing: string[] = [];
  const now = Date.now();
  for await (const page of source.jobs()) {
    for (const { status, runAt, type: there } of page) {
      const type = nameOf(there);
      tally[status === "dead" ? "failed" : runAt > now ? "delayed" : "waiting"] += 1;
      byType[type] = (byType[type] ?? 0) + 1;
    }
    if (options.to !== null) await adopt(options.to, page, options, { tally, missing });
    options.onProgress(tally.waiting + tally.delayed + tally.failed);
  }
  return { ...tally, byType, missing };
}

async function adopt(
  to: Store,
  page: readonly ForeignJob[],
  options: TakeOptions,
  into: { readonly tally: { added: number; there: number }; readonly missing: string[] },
): Promise<void> {
  const jobs = page.map((job) => adoptedOf(job, options));
  const answers = await adoptJobs(to, jobs);
  for (const answer of answers) {
    if (answer === "added") into.tally.added += 1;
    if (answer === "there" || answer === "gone") into.tally.there += 1;
  }
  // What the store says it has is read back: it must be this job, whatever has become of it since.
  const refs = jobs.map(({ id, queue }) => ({ id, queue }));
  const found = await to.get(refs);
  for (const [at, job] of jobs.entries()) {
    const here = found[at];
    const isGone = answers[at] === "gone" || here === "pruned";
    const isSame =
      here !== null &&
      here !== undefined &&
      here !== "pruned" &&
      here.payload === job.payload &&
      here.type === job.type &&
      here.maxAttempts >= job.attempts;
    if (isGone || isSame || into.missing.length >= MOST_NAMED) continue;
    into.missing.push(page[at]?.key ?? "");
  }
}

/** As a job of ours, with its history in its meta. */
export function adoptedOf(
  job: ForeignJob,
  options: Pick<TakeOptions, "system" | "queueOf">,
): AdoptedJob {
  const { system, queueOf } = options;
  const { message = "", stack = null } = job.error ?? {};
  const error = job.error && {
    ...{
      category: "unknown" as const,
      fingerprint: `import-${hash(`${job.type}:${message}`).slice(0, 16)}`,
    },
    ...{ message: message.slice(0, MOST_MESSAGE), stack: stack?.slice(0, MOST_STACK) ?? null },
  };
  const isDead = job.status === "dead";
  return {
    ...{
      id: idOf(system, job),
      queue: queueOf(job),
      group: nameOf(job.group ?? ""),
      type: nameOf(job.type),
    },
    ...{ status: job.status, priority: job.priority, payload: JSON.stringify(job.payload ?? null) },
    ...{ result: null, attempts: job.attempts, maxAttempts: job.maxAttempts, crashes: 0, fence: 0 },
    error: error ?? (isDead ? { ...NO_WORDS } : null),
    reason: isDead ? "failed" : null,
    ...{ checkpoint: null, steps: [], logs: [], history: [], dedupe: null, tags: [] },
    meta: JSON.stringify({ importedFrom: system, importedId: job.key }),
    ...{ trace: null, createdAt: job.createdAt, runAt: job.runAt },
    ...{ startedAt: job.startedAt, finishedAt: job.finishedAt },
  };
}

const NO_WORDS = {
  ...{ category: "unknown" as const, fingerprint: "import-without-words" },
  ...{ message: "it failed before it was imported; the other system kept no words", stack: null },
};

/** UUIDv7: the time is the job's own, the rest follows from where it comes from. */
function idOf(system: System, { key, createdAt }: ForeignJob): string {
  const time = Math.max(0, Math.floor(createdAt)).toString(16).padStart(12, "0").slice(-12);
  const rest = hash(`holdfast import ${system} ${key}`);
  const variant = ((Number.parseInt(rest[3] ?? "0", 16) & 0x3) | 0x8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-${variant}${rest.slice(4, 7)}-${rest.slice(7, 19)}`;
}

export function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** What cannot be a name here, in letters that can. */
export function nameOf(given: string): string {
  if (given === "" || NAME.test(given)) return given;
  const plain = textOf(given)
    .replaceAll(/[^A-Za-z0-9_.:-]/g, "-")
    .slice(0, 128);
  return /^[A-Za-z0-9]/.test(plain) ? plain : `x${plain}`.slice(0, 128);
}
