/** Imports a spreadsheet, or says what an import would do. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Holdfast } from "holdfast";
import type { Cli } from "../cli.ts";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean } from "../output/clean.ts";
import { count } from "../output/words.ts";
import { readWhole } from "../settings/read-flags.ts";
import { lendWorker } from "./lend-worker.ts";
import { IMPORTS, loadImports, type ImportsLike, type Summary } from "./load-imports.ts";

const LOOK_MS = 200;

export const importFile: Command = {
  name: "import",
  args: "<file>",
  needs: "imports",
  summary: "imports a spreadsheet (.xlsx, .csv)",
  about: `Needs the package ${IMPORTS}. The module of --jobs opens imports with their types and targets (openImports); a dry run of a built-in type needs none, and counts as if the target were empty. Without a live worker for it, the import runs here. Ctrl-C lets the job go on where there is one.`,
  examples: ["import {customers} --type customers --dry-run"],
  options: [
    { flags: "-t, --type <type>", about: "what the rows are; default: as the manifest says" },
    { flags: "--sheet <name>", about: "the sheet; default: the first one" },
    { flags: "--header-row <n>", about: "the row of the headers; default: found", read: readWhole },
    { flags: "--dry-run", about: "read, check and count; write nothing" },
    { flags: "--jobs <file>", about: "the module that opens imports" },
  ],
  async run(cli, { args: [file] }) {
    const path = resolve(cli.io.cwd, String(file));
    if (!existsSync(path)) {
      throw new CliError(ExitCode.notFound, `there is no file ${clean(file)} here`);
    }
    const { type, sheet, headerRow } = cli.flags;
    const choice = {
      ...(typeof type === "string" && { type }),
      ...(typeof sheet === "string" && { sheetName: sheet }),
      ...(typeof headerRow === "number" && { headerRow }),
    };
    const isDry = cli.flags["dryRun"] === true;
    const summary = isDry ? await check(cli, path, choice) : await submit(cli, path, choice);
    if (summary === null) return ExitCode.failed;
    cli.print(summary, () => wordsOf(cli, summary));
    return summary.failed === 0 ? ExitCode.ok : ExitCode.failed;
  },
};

type Choice = Parameters<ImportsLike["submitFile"]>[1];

async function check(cli: Cli, path: string, choice: Choice): Promise<Summary> {
  const { importsOf, importTypes, emptyTarget, checkImport } = await loadImports();
  const progress = cli.progress();
  const stop = new AbortController();
  const forget = cli.io.onStop(() => stop.abort(new CliError(ExitCode.failed, "stopped")));
  const watching = {
    signal: stop.signal,
    onProgress: (share: number, rows: number) =>
      progress.show(Math.round(share * 100), 100, `${count(rows)} rows`),
  };
  try {
    const { values } = await cli.settings();
    const imports = values.jobs === undefined ? null : importsOf(await opened(cli));
    if (imports) return await imports.check(path, { ...choice, ...watching });
    const { type = "", ...sheet } = choice;
    const define = Object.hasOwn(importTypes, type) ? importTypes[type] : undefined;
    if (!define) throw noType(type, Object.keys(importTypes));
    return await checkImport(path, define({ target: emptyTarget() }), { ...sheet, ...watching });
  } finally {
    forget();
    progress.end();
  }
}

/** Null: the person left before it was over. */
async function submit(cli: Cli, path: string, choice: Choice): Promise<Summary | null> {
  const { importsOf } = await loadImports();
  const hf = await opened(cli);
  const imports = importsOf(hf);
  if (imports === null) {
    throw new CliError(
      ExitCode.usage,
      "the module of --jobs opens no imports: await openImports(hf, { inbox, types }) there, or make a --dry-run",
    );
  }
  cli.closeLater(() => imports.close());
  const { id, jobType } = await imports.submitFile(path, choice);
  const enough = await lendWorker(hf, {
    isServed: ({ types, isQuiet }) => types.includes(jobType) && !isQuiet,
    ...{ queue: imports.queue, onLent: () => {} },
  });
  const ended = await follow(cli, hf, id).finally(enough);
  if (ended === null) {
    cli.note(`The import goes on as the job ${id}.`);
    return null;
  }
  if (ended.status === "succeeded") return ended.result as Summary;
  const why = ended.error?.message ?? ended.reason ?? "";
  throw new CliError(ExitCode.failed, `the import is ${ended.status}: ${clean(why)} (job ${id})`);
}

async function follow(cli: Cli, hf: Holdfast, id: string) {
  const progress = cli.progress();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<true>();
  const forget = cli.io.onStop(() => stop(true));
  try {
    for (;;) {
      const job = await hf.job(id);
      if (job === null) throw new CliError(ExitCode.notFound, `the job ${id} was removed`);
      if (["succeeded", "dead", "cancelled"].includes(job.status)) return job;
      progress.show(job.progress?.percent ?? 0, 100, job.progress?.message ?? job.status);
      const look = new Promise<false>((done) => setTimeout(done, LOOK_MS, false).unref());
      if (await Promise.race([stopped, look])) return null;
    }
  } finally {
    forget();
    progress.end();
  }
}

async function opened(cli: Cli): Promise<Holdfast> {
  const { values } = await cli.settings();
  if (values.jobs === undefined) {
    throw new CliError(
      ExitCode.usage,
      "import needs the module that opens imports: --jobs ./jobs.ts; a --dry-run of a built-in type needs none",
    );
  }
  return cli.open({ makesFile: true, withJobs: true });
}

function noType(type: string, known: readonly string[]): CliError {
  const list = known.join(", ");
  return new CliError(
    ExitCode.usage,
    type === ""
      ? `say what the rows are with --type: ${list}`
      : `there is no built-in type ${clean(type)}: there are ${list}; for your own, name the module with --jobs`,
  );
}

function wordsOf(cli: Cli, summary: Summary): string {
  const { totalRows, inserted, updated, failed, dryRun, replaced, errorsLeftOut } = summary;
  const would = dryRun ? "would be " : "";
  const head = `${count(totalRows)} rows: ${count(inserted)} ${would}inserted, ${count(updated)} ${would}updated, ${count(failed)} failed`;
  const table = (rows: Summary["errors"], title: string) =>
    rows.length === 0
      ? []
      : [
          cli.table(rows, [
            { title: "ROW", value: ({ row }) => row, align: "right" },
            { title, value: ({ reason }) => reason, atLeast: 20 },
          ]),
        ];
  return [
    failed === 0 ? cli.paint.green(head) : cli.paint.yellow(head),
    ...(replaced > 0 ? [`${count(replaced)} rows have the key of a later one, which counts`] : []),
    ...table(summary.errors, "FAILED BECAUSE"),
    ...(errorsLeftOut > 0 ? [`and ${count(errorsLeftOut)} more`] : []),
    ...table(summary.warnings, "WARNING"),
  ].join("\n");
}
