/** What every command is given: its settings, a Holdfast when it asks for one, and a way to speak. */
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { Holdfast, Redactor, type JobListing, type Logger, type Store } from "holdfast";
import { storeOfUrl } from "holdfast/connect";
import { hideCredentials, optionsOf, readSettings, type ReadSettings } from "holdfast/env";
import { CliError, ExitCode } from "./exit-code.ts";
import type { Io } from "./io.ts";
import { cleanLines, safeJson } from "./output/clean.ts";
import { hiddenJob } from "./output/hidden-job.ts";
import { ANSI_PAINT, NO_PAINT, type Paint } from "./output/paint.ts";
import { Progress } from "./output/progress.ts";
import { table, type Column } from "./output/table.ts";
import { readConfigFile, type ConfigFile } from "./settings/config-file.ts";
import { readJobsModule } from "./settings/jobs-module.ts";

export type Flags = Readonly<Record<string, unknown>>;

export const DEFAULT_URL = "sqlite:holdfast.db";

export interface OpenOptions {
  /** A SQLite file that is not there is made. Default: that is a mistake, and said. */
  readonly makesFile?: boolean;
  /** Define the jobs of the module of `--jobs`, if there is one. */
  readonly withJobs?: boolean;
  readonly logger?: Logger;
}

export class Cli {
  readonly io: Io;
  readonly flags: Flags;
  readonly paint: Paint;
  readonly isJson: boolean;
  readonly #toClose: (() => Promise<void>)[] = [];
  #settings: Promise<{ readonly read: ReadSettings; readonly file: ConfigFile | null }> | null =
    null;

  constructor(io: Io, flags: Flags) {
    this.io = io;
    this.flags = flags;
    this.isJson = flags["json"] === true;
    const { NO_COLOR, FORCE_COLOR } = io.env;
    const wants = flags["color"] !== false && (NO_COLOR ?? "") === "";
    this.paint = wants && (io.stdout.isTTY || FORCE_COLOR === "1") ? ANSI_PAINT : NO_PAINT;
  }

  /** Everything that was set, with where it was; bad values are among the problems. */
  async read(): Promise<{ readonly read: ReadSettings; readonly file: ConfigFile | null }> {
    this.#settings ??= (async () => {
      const named = this.flags["config"] as string | undefined;
      const file = await readConfigFile(this.io.cwd, named);
      const { flags, io } = this;
      return {
        file,
        read: readSettings({ flags, env: io.env, ...(file && { file }) }),
      };
    })();
    return this.#settings;
  }

  /** The values; a bad one stops the command, and all of them are named. */
  async settings(): Promise<ReadSettings> {
    const { read } = await this.read();
    if (read.problems.length > 0) {
      const list = read.problems.map((problem) => `  ${problem}`).join("\n");
      throw new CliError(ExitCode.usage, `these settings cannot be used:\n${list}`);
    }
    return read;
  }

  async url(): Promise<string> {
    const { values } = await this.settings();
    return values.url ?? DEFAULT_URL;
  }

  async store(options: { readonly makesFile?: boolean } = {}): Promise<Store> {
    const url = await this.url();
    const { sources } = await this.settings();
    if (options.makesFile !== true) {
      this.#refuseMissingFile(url, sources.url ?? null);
    }
    return storeOfUrl(this.absolute(url));
  }

  /** A SQLite file is named from where one stands. */
  absolute(url: string): string {
    const [, file] = /^sqlite:(?:\/\/)?(.+)$/.exec(url) ?? [];
    if (file === undefined || file === ":memory:" || isAbsolute(file)) return url;
    return `sqlite:${join(this.io.cwd, file)}`;
  }

  /** A Holdfast on the store of the settings; it is closed when the command ends. */
  async open(options: OpenOptions = {}): Promise<Holdfast> {
    const { values } = await this.settings();
    const module =
      options.withJobs === true && values.jobs !== undefined
        ? await readJobsModule(this.io.cwd, values.jobs)
        : null;
    if (module !== null && "hf" in module) {
      this.#toClose.push(() => module.hf.close());
      await module.hf.info();
      return module.hf;
    }
    const store = await this.store(options);
    const ledger = values.ledgerUrl;
    const hf = new Holdfast({
      ...optionsOf(values),
      store,
      ...(ledger !== undefined && { ledger: await storeOfUrl(this.absolute(ledger)) }),
      logger: options.logger ?? this.logger(),
    }) as Holdfast;
    this.#toClose.push(() => hf.close());
    await module?.define(hf);
    await hf.info();
    return hf;
  }

  /** Secrets hidden: what is shown is copied, logged and pasted. */
  async hide<Job extends JobListing>(jobs: readonly Job[]): Promise<readonly Job[]> {
    const { values } = await this.settings();
    const redactor = new Redactor(
      values.redactKeys === undefined ? {} : { keys: values.redactKeys },
    );
    return jobs.map((job) => hiddenJob(redactor, job));
  }

  /** Warnings of the library, as sentences. */
  logger(): Logger {
    const say = (message: string) => this.note(message);
    return { debug() {}, info() {}, warn: say, error: say };
  }

  closeLater(close: () => Promise<void>): void {
    this.#toClose.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#toClose.splice(0).toReversed()) await close();
  }

  /** One answer, in two ways: for programs if they asked for it, else for people. */
  print(value: unknown, human: () => string): void {
    if (this.isJson) this.io.stdout.write(`${safeJson(value, 2)}\n`);
    else this.say(human());
  }

  say(text: string): void {
    if (text !== "") this.io.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  }

  /** To stderr: it is no part of the answer. */
  note(text: string): void {
    this.io.stderr.write(`${cleanLines(text)}\n`);
  }

  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
    const { stdout } = this.io;
    const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
    return table(rows, columns, { width, paint: this.paint });
  }

  progress(): Progress {
    return new Progress(this.io.stderr, !this.isJson);
  }

  /** Before what cannot be undone. */
  async confirm(question: string): Promise<void> {
    if (this.flags["yes"] === true) return;
    if (!this.io.canAsk) {
      throw new CliError(ExitCode.refused, `${question} Say --yes to do it without being asked.`);
    }
    const answer = await this.io.ask(`${cleanLines(question)} [y/N] `);
    if (/^y(es)?$/i.test(answer.trim())) return;
    throw new CliError(ExitCode.refused, "Nothing was done.");
  }

  /** Who is asking, for the audit. */
  get by(): string {
    const given = this.flags["by"];
    if (typeof given === "string") return given;
    return this.io.env["USER"] ?? this.io.env["USERNAME"] ?? "cli";
  }

  get why(): { readonly by: string; readonly reason?: string } {
    const { reason } = this.flags;
    return { by: this.by, ...(typeof reason === "string" && { reason }) };
  }

  #refuseMissingFile(url: string, source: string | null): void {
    const [, file] = /^sqlite:(?:\/\/)?(.+)$/.exec(this.absolute(url)) ?? [];
    if (file === undefined || file === ":memory:" || existsSync(file)) return;
    const advice =
      source === null
        ? "name a store with --url or HOLDFAST_URL, or begin with holdfast init"
        : `it was named by ${source}`;
    throw new CliError(
      ExitCode.notFound,
      `there is no database ${hideCredentials(url).replace(/^sqlite:/, "")} here: ${advice}`,
    );
  }
}
