/**
 * The part of a process that fires schedules. It knows when each wants it next and sleeps until then: between
 * two ticks it asks the store nothing, but for its clock now and then. It reads all records only when some of
 * them changed, and every ten minutes in case a process died before it could say so.
 */
import type { ScheduleDefinition, ScheduleState } from "../../core/schedule.ts";
import type { Extension, ExtensionHost } from "../../engine/extension.ts";
import { Declarations } from "./declarations.ts";
import { DueIndex } from "./due-index.ts";
import { fire } from "./fire.ts";
import { announce, changesOf, pageOfSchedules } from "./schedule-records.ts";
import { TickOutcomes } from "./tick-entries.ts";

const CHORE = "schedules";
const EVERY_MS = 1_000;
/** The store's clock is asked again after so long, so a jump of it is noticed. */
const CLOCK_MS = 30_000;
const READ_ANYWAY_MS = 600_000;
const SWEEP_MS = 300_000;
/** Nothing to fire: a change wakes it. */
const IDLE_MS = 60_000;
const SOONEST_MS = 10;
/**
 * After it has fired it rests for so long: where ticks come by the second, some are claimed and stored together. A bit
 * less than a second, so that a tick at each full second is never late for it.
 */
const REST_MS = 900;
const BATCH = 100;

export class Scheduler {
  readonly extension: Extension;
  readonly #host: ExtensionHost;
  readonly #declarations: Declarations;
  readonly #index: DueIndex;
  /** Of the record that tells of changes; undefined: not read yet. */
  #changes: number | null | undefined = undefined;
  #mayHaveChanged = true;
  #readAt = -Infinity;
  #sweptAt: number;
  #clock = { at: -Infinity, now: 0 };
  #turn: Promise<unknown> = Promise.resolve();
  /** This process has something to do with schedules. */
  isUsed = false;

  constructor(host: ExtensionHost, { appVersion }: { readonly appVersion: string | null }) {
    this.#host = host;
    this.#declarations = new Declarations(host, appVersion);
    this.#index = new DueIndex(host.workers.id, () => host.workers.processes);
    this.#sweptAt = host.runtime.monotonic();
    const outcomes = new TickOutcomes(host);
    host.workers.onChange(() => {
      this.#mayHaveChanged = true;
      host.chores.soon(CHORE);
    });
    this.extension = {
      name: CHORE,
      chores: [{ name: CHORE, everyMs: EVERY_MS, run: () => this.#inTurn(() => this.#run()) }],
      ...(host.hasLedger && {
        ended: (attempt, how, outcome, { ranMs }) => {
          if (how === "settled") outcomes.ended(attempt, outcome, ranMs);
        },
      }),
    };
  }

  /** Stored when a worker starts; soon, if one works already. */
  declare(name: string, definition: ScheduleDefinition | Promise<ScheduleDefinition>): void {
    this.#declarations.add(name, definition);
    this.isUsed = true;
    this.#host.chores.soon(CHORE);
  }

  reconcile(): Promise<void> {
    return this.#inTurn(() => this.#declarations.reconcile());
  }

  /** Something was made, changed or removed here. */
  async changed(): Promise<void> {
    this.isUsed = true;
    await announce(this.#host);
  }

  /** For a test kit, which has no worker while time passes: fires what is due, and answers when the next one is. */
  async tick(): Promise<number | null> {
    return this.#inTurn(async () => {
      this.#clock = { at: -Infinity, now: 0 };
      await this.#run();
      const { nextAt } = this.#index;
      return nextAt === Infinity ? null : nextAt;
    });
  }

  /** One after the other: what one has claimed must not look like a claim left behind to the next. */
  #inTurn<Out>(act: () => Promise<Out>): Promise<Out> {
    const turn = this.#turn.then(act);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Answers in how many milliseconds there is something to do again. */
  async #run(): Promise<number> {
    await this.#declarations.reconcile();
    await this.#read();
    if (this.#index.size === 0) return IDLE_MS;
    await this.#sweep();
    if (this.#index.nextAt === Infinity) return IDLE_MS;
    let now = this.#estimate();
    if (this.#index.nextAt <= now || this.#host.runtime.monotonic() - this.#clock.at >= CLOCK_MS) {
      now = await this.#askClock();
    }
    const due = this.#index.dueBy(now);
    for (let from = 0; from < due.length; from += BATCH) {
      const names = due.slice(from, from + BATCH);
      const states = await fire(this.#host, names, from === 0 ? now : await this.#askClock());
      names.forEach((name, at) => this.#note(name, states[at] ?? null));
    }
    const leftMs = this.#index.nextAt - this.#estimate();
    return Math.min(Math.max(leftMs, due.length > 0 ? REST_MS : SOONEST_MS), CLOCK_MS);
  }

  #note(name: string, state: ScheduleState | null): void {
    if (state) this.#index.note(state);
    else this.#index.forget(name);
  }

  async #read(): Promise<void> {
    const { records, runtime } = this.#host;
    const isOld = runtime.monotonic() - this.#readAt >= READ_ANYWAY_MS;
    if (!this.#mayHaveChanged && !isOld) return;
    this.#mayHaveChanged = false;
    try {
      const changes = await changesOf(records);
      if (changes === this.#changes && !isOld) return;
      const states: ScheduleState[] = [];
      let cursor: string | null = null;
      do {
        const page = await pageOfSchedules(records, { cursor });
        states.push(...page.states);
        cursor = page.nextCursor;
      } while (cursor !== null);
      this.#index.clear();
      for (const state of states) this.#index.note(state);
      this.#changes = changes;
      this.#readAt = runtime.monotonic();
    } catch (error) {
      this.#mayHaveChanged = true;
      throw error;
    }
  }

  async #sweep(): Promise<void> {
    const { runtime } = this.#host;
    if (runtime.monotonic() - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = runtime.monotonic();
    if (await this.#declarations.sweep(this.#index.declared)) {
      this.#mayHaveChanged = true;
      await this.#read();
    }
  }

  /** What the store's clock shows, as far as this process knows without asking. */
  #estimate(): number {
    return this.#clock.now + (this.#host.runtime.monotonic() - this.#clock.at);
  }

  async #askClock(): Promise<number> {
    const at = this.#host.runtime.monotonic();
    this.#clock = { at, now: await this.#host.jobs.now() };
    return this.#clock.now;
  }
}
