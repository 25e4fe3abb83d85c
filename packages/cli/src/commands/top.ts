/** A live screen: queues, what runs, what died, who works. */
import type { Holdfast } from "holdfast";
import { hideCredentials } from "holdfast/env";
import type { Cli } from "../cli.ts";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean } from "../output/clean.ts";
import { readDuration } from "../settings/read-flags.ts";
import { screenLines, type Screen } from "../top/top-screen.ts";
import { FIRST_VIEW, lookAt, pressed, ratesBetween } from "../top/top-state.ts";
import { shownJobs, shownQueues, type Look, type View } from "../top/top-state.ts";
import { jobWords, lookAtJob } from "./jobs.ts";

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";

export const top: Command = {
  name: "top",
  summary: "a live screen of queues, running jobs, failures and workers",
  about:
    "Keys: tab, arrows, s sort, / filter, p pause or resume a queue, enter look at a job, q quit.",
  examples: ["top", "top --every 5s"],
  options: [
    { flags: "--every <duration>", about: "how often it looks (default 1s)", read: readDuration },
  ],
  async run(cli) {
    if (!cli.io.stdout.isTTY) {
      throw new CliError(
        ExitCode.usage,
        "top needs a terminal; holdfast queues --json is for programs",
      );
    }
    const hf = await cli.open({ logger: { debug() {}, info() {}, warn() {}, error() {} } });
    const store = hideCredentials(await cli.url());
    const everyMs = Math.max(200, (cli.flags["every"] as number | undefined) ?? 1_000);
    cli.io.stdout.write(ENTER);
    try {
      await new LiveScreen(cli, hf, store).run(everyMs);
    } finally {
      cli.io.stdout.write(LEAVE);
    }
  },
};

export class LiveScreen {
  readonly #cli: Cli;
  readonly #hf: Holdfast;
  readonly #store: string;
  #view: View = FIRST_VIEW;
  #look: Look | null = null;
  #rates: ReadonlyMap<string, number> = new Map();
  #job: Screen["job"] = null;
  #note = "";
  #isOver = false;

  constructor(cli: Cli, hf: Holdfast, store: string) {
    this.#cli = cli;
    this.#hf = hf;
    this.#store = store;
  }

  async run(everyMs: number): Promise<void> {
    const { io } = this.#cli;
    let wake: () => void = () => {};
    const end = () => {
      this.#isOver = true;
      wake();
    };
    // Who wants to leave does not wait for a store that does not answer.
    const orEnd = (what: Promise<unknown>) =>
      new Promise<void>((resolve) => {
        wake = resolve;
        what.then(() => resolve(), resolve);
      });
    const stops = [
      io.onStop(end),
      io.onResize(() => this.#draw()),
      io.onKey((key) => {
        const [view, act] = pressed(this.#view, key);
        this.#view = view;
        this.#note = "";
        if (view.job === null) this.#job = null;
        if (act?.kind === "quit") end();
        else if (act !== null) void this.#act(act).then(() => this.#draw());
        this.#draw();
      }),
    ];
    try {
      while (!this.#isOver) {
        if (!this.#view.isStopped || this.#look === null) await orEnd(this.#lookAgain());
        this.#draw();
        if (this.#isOver) break;
        let timer: NodeJS.Timeout | undefined;
        await orEnd(new Promise((done) => (timer = setTimeout(done, everyMs))));
        clearTimeout(timer);
      }
    } finally {
      for (const stop of stops) stop();
    }
  }

  async #lookAgain(): Promise<void> {
    const before = this.#look;
    const now = await lookAt(this.#hf, before);
    if (now.trouble === null) this.#rates = ratesBetween(before, now);
    const [dead, running] = [await this.#cli.hide(now.dead), await this.#cli.hide(now.running)];
    this.#look = { ...now, dead, running };
  }

  async #act(act: { readonly kind: "pause" | "look"; readonly at: number }): Promise<void> {
    const look = this.#look;
    if (look === null) return;
    try {
      await (act.kind === "pause" ? this.#pause(look, act.at) : this.#lookAtJob(look, act.at));
    } catch (error) {
      this.#note = clean(error instanceof Error ? error.message : error);
    }
  }

  async #pause(look: Look, at: number): Promise<void> {
    const rows = shownQueues(look, this.#view, this.#rates);
    const row = rows[Math.min(at, rows.length - 1)];
    if (row === undefined) return;
    const isPaused = row.held?.startsWith("paused") === true;
    const { by } = this.#cli;
    if (isPaused) await this.#hf.tools.as({ by }, () => this.#hf.resume(row.queue));
    else await this.#hf.pause(row.queue, { by, reason: "top" });
    this.#note = `Queue ${clean(row.queue)} is ${isPaused ? "no longer paused" : "paused"}.`;
    await this.#lookAgain();
  }

  async #lookAtJob(look: Look, at: number): Promise<void> {
    const jobs = shownJobs(look, this.#view);
    const id = jobs[Math.min(at, jobs.length - 1)]?.id;
    const found = id === undefined ? null : await lookAtJob(this.#cli, this.#hf, id);
    if (found === null) return;
    this.#view = { ...this.#view, job: found.id };
    this.#job = { found, lines: jobWords(this.#cli, found).split("\n") };
    this.#note = "esc or q goes back";
  }

  #draw(): void {
    // Behind the end the screen is the shell's again.
    if (this.#look === null || this.#isOver) return;
    const { stdout } = this.#cli.io;
    const lines = screenLines({
      ...{ look: this.#look, view: this.#view, rates: this.#rates, store: this.#store },
      ...{ job: this.#job, note: this.#note, paint: this.#cli.paint },
      ...{ columns: stdout.columns, rows: stdout.rows },
    });
    // Each line clears its rest, so that nothing flickers.
    stdout.write(`${HOME}${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`);
  }
}
