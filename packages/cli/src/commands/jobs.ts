/** Looking at jobs. */
import type { Holdfast, JobListing, JobView } from "holdfast";
import type { Cli } from "../cli.ts";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean, cleanLines, safeJson } from "../output/clean.ts";
import { statusPaint } from "../output/paint.ts";
import type { Column } from "../output/table.ts";
import { ago, duration, instant } from "../output/words.ts";
import { CURSOR, FILTER, filterOf, LIMIT, pageOf } from "./shared-options.ts";

export function jobColumns(now: number): readonly Column<JobListing>[] {
  return [
    { title: "ID", value: (job) => job.id },
    { title: "TYPE", value: (job) => job.type, atLeast: 8 },
    { title: "QUEUE", value: (job) => job.queue, atLeast: 6, mayGo: true },
    {
      title: "STATUS",
      value: (job) => statusWords(job, now),
      atLeast: 10,
      paint: (job, paint) => statusPaint(job.status, paint),
    },
    { title: "TRIES", value: (job) => `${job.attempts}/${job.maxAttempts}`, align: "right" },
    { title: "CREATED", value: (job) => ago(job.createdAt, now), mayGo: true },
    { title: "ERROR", value: (job) => job.error?.message ?? job.reason, atLeast: 5, mayGo: true },
  ];
}

/** A job that waits for its time says so. */
export function statusWords(job: JobListing, now: number): string {
  const isLater = job.status === "queued" && job.runAt.getTime() > now;
  if (isLater) return `queued, ${ago(job.runAt, now)}`;
  if (job.cancelAsked) return "processing, to be cancelled";
  const { progress } = job;
  return job.status === "processing" && progress ? `processing ${progress.percent}%` : job.status;
}

export const jobs: Command = {
  name: "jobs",
  summary: "lists jobs, newest first",
  examples: ["jobs", "jobs --status dead --limit 20", "jobs --queue mail --since 2h --json"],
  options: [...FILTER, { flags: "--oldest", about: "oldest first" }, LIMIT, CURSOR],
  async run(cli) {
    const hf = await cli.open();
    const { flags } = cli;
    const { jobs: found, nextCursor } = await hf.jobs({
      ...filterOf(flags),
      ...pageOf(flags),
      ...(flags["oldest"] === true && { order: "oldest" as const }),
    });
    const page = { jobs: await cli.hide(found), nextCursor };
    cli.print(page, () =>
      page.jobs.length === 0
        ? "No such jobs."
        : cli.table(page.jobs, jobColumns(Date.now())) + moreWords(cli, page.nextCursor),
    );
  },
};

export function moreWords(cli: Cli, cursor: string | null): string {
  if (cursor === null) return "";
  return cli.paint.dim(`There are more: --cursor ${clean(cursor)}\n`);
}

export const job: Command = {
  name: "job",
  args: "<id>",
  summary: "shows all of one job: payload, attempts, steps, log",
  about: "Values under keys such as password, token, secret, key and authorization are hidden.",
  examples: [
    "job 01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d21",
    "job 01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d21 --reveal",
  ],
  options: [{ flags: "--reveal", about: "show everything as it is stored; noted in the audit" }],
  async run(cli, { args: [id] }) {
    const hf = await cli.open();
    const found = await lookAtJob(cli, hf, String(id));
    if (found === null) throw noJob(String(id));
    cli.print(found, () => jobWords(cli, found));
  },
};

/** Null if there is no such job. Secrets are hidden, unless a person wants them. */
export async function lookAtJob(cli: Cli, hf: Holdfast, id: string): Promise<JobView | null> {
  const found = await hf.job(id);
  if (found === null) return null;
  if (cli.flags["reveal"] === true) {
    await hf.tools.audit({ action: "reveal", ...cli.why, jobId: id, queue: found.queue });
    return found;
  }
  return (await cli.hide([found]))[0] ?? null;
}

export function noJob(id: string): CliError {
  return new CliError(ExitCode.notFound, `there is no job ${clean(id)}: was it removed or pruned?`);
}

export function jobWords(cli: Cli, found: JobView): string {
  const { paint } = cli;
  const now = Date.now();
  const dress = statusPaint(found.status, paint) ?? ((text: string) => text);
  const rows: readonly (readonly [string, unknown])[] = [
    ["status", dress(statusWords(found, now))],
    ["type", clean(found.type)],
    ["queue", clean(found.queue) + (found.group === null ? "" : `, group ${clean(found.group)}`)],
    ["attempts", `${found.attempts} of ${found.maxAttempts}, ${found.crashes} crashes`],
    ["priority", found.priority],
    ["created", when(found.createdAt, now)],
    ["due", when(found.runAt, now)],
    ["started", when(found.startedAt, now)],
    ["finished", when(found.finishedAt, now)],
    ["worker", found.worker && clean(found.worker)],
    ["key", found.idempotencyKey && clean(found.idempotencyKey)],
    ["tags", found.tags.map(clean).join(", ")],
    ...originOf(found),
    ["reason", found.reason && clean(found.reason)],
    ["error", found.error && `${found.error.category}: ${clean(found.error.message)}`],
    [
      "progress",
      found.progress && `${found.progress.percent}% ${clean(found.progress.message ?? "")}`,
    ],
    ["payload", safeJson(found.payload)],
    ["result", found.status === "succeeded" ? safeJson(found.result) : null],
    ["checkpoint", found.checkpoint === null ? null : safeJson(found.checkpoint)],
    ["steps", found.steps.map(clean).join(", ")],
  ];
  const lines = rows.flatMap(([name, value]) =>
    value === null || value === undefined || value === ""
      ? []
      : [`${paint.dim(name.padEnd(11))}${String(value)}`],
  );
  return [
    paint.bold(clean(found.id)),
    ...lines,
    ...(found.history.length > 0 ? ["", attemptsWords(cli, found)] : []),
    ...(found.logs.length > 0
      ? ["", ...found.logs.map(({ at, text }) => `${paint.dim(instant(at))} ${clean(text)}`)]
      : []),
    ...(found.status === "dead" && found.error?.stack
      ? ["", paint.dim(cleanLines(found.error.stack))]
      : []),
  ].join("\n");
}

/** Where it comes from, and who moved it last. */
function originOf({ lineage, status }: JobView): readonly (readonly [string, unknown])[] {
  const { spawnedBy, schedule, changedBy } = lineage;
  const operation = changedBy?.operation ? `, operation ${clean(changedBy.operation)}` : "";
  return [
    ["spawned by", spawnedBy && clean(spawnedBy)],
    ["schedule", schedule && `${clean(schedule.name)}, tick ${instant(schedule.tick)}`],
    [
      status === "cancelled" ? "cancelled" : "retried",
      changedBy && `by ${clean(changedBy.by)}${operation}`,
    ],
  ];
}

function when(date: Date | null, now: number): string | null {
  return date === null ? null : `${instant(date)} (${ago(date, now)})`;
}

function attemptsWords(cli: Cli, found: JobView): string {
  return cli.table(found.history, [
    { title: "ATTEMPT", value: ({ attempt }) => attempt, align: "right" },
    { title: "OUTCOME", value: ({ outcome }) => outcome },
    { title: "STARTED", value: ({ startedAt }) => instant(startedAt) },
    { title: "TOOK", value: (one) => duration(one.endedAt.getTime() - one.startedAt.getTime()) },
    { title: "WORKER", value: ({ worker }) => worker, atLeast: 8 },
    { title: "MESSAGE", value: ({ message }) => message, atLeast: 8 },
  ]);
}
