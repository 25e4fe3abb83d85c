/** Schedules, for people: look at them, see what they did, run, pause, make and remove them. */
import { ScheduleInCodeError, ScheduleNotFoundError } from "../../core/errors.ts";
import { decodeJson } from "../../core/json-text.ts";
import { checkDate, checkOptions, checkText, checkWhole } from "../../core/option-checks.ts";
import {
  enabled,
  isActive,
  newSchedule,
  redefined,
  type Missed,
  type Overlap,
  type ScheduleState,
} from "../../core/schedule.ts";
import { checkRule, firstTick, ticksAfter, type RuleOptions } from "../../core/schedule-rule.ts";
import type { Why } from "../../core/store.ts";
import { cleanText } from "../../core/text.ts";
import { checkWhy, type WhyOptions } from "../../core/why-options.ts";
import { fillPage, type Extension, type ExtensionHost } from "../../engine/extension.ts";
import { limitOwnLines } from "./declarations.ts";
import { runNow } from "./run-now.ts";
import { lastRuns, runViews, type RunView } from "./run-view.ts";
import {
  checkSchedule,
  checkScheduleName,
  ownGroup,
  RULE_OPTIONS,
  type ScheduleOptions,
} from "./schedule-options.ts";
import {
  changeSchedule,
  pageOfSchedules,
  readSchedule,
  removeSchedule,
} from "./schedule-records.ts";
import { Scheduler } from "./scheduler.ts";
import { TICK } from "./tick-entries.ts";

export type { ScheduleOptions } from "./schedule-options.ts";

const NEXT_SHOWN = 5;
const MOST_SHOWN = 10_000;

export interface ScheduleView {
  readonly name: string;
  /** Null for one by interval. */
  readonly cron: string | null;
  readonly timeZone: string | null;
  readonly everyMs: number | null;
  /** What each tick enqueues; secrets hidden. */
  readonly job: {
    readonly type: string;
    readonly queue: string;
    readonly group: string | null;
    readonly payload: unknown;
  };
  readonly overlap: Overlap;
  /** What becomes of ticks that are missed. */
  readonly onMissed: Missed;
  /** It is neither paused nor disabled. */
  readonly enabled: boolean;
  readonly paused: {
    readonly at: Date;
    readonly by: string | null;
    readonly reason: string | null;
  } | null;
  /** Since then it does not fire, because no live worker declares it any more. */
  readonly disabledAt: Date | null;
  /** Declared by programs, or made by an operator. */
  readonly origin: "code" | "api";
  readonly appVersion: string | null;
  /** The next five ticks; none while it is not enabled. */
  readonly next: readonly Date[];
  readonly lastRun: RunView | null;
  /** How many ticks it has had, by what became of them. */
  readonly fired: number;
  readonly skipped: number;
  readonly missed: number;
}

export interface SchedulesQuery {
  /** Names that begin so. */
  readonly prefix?: string | undefined;
  /** Behind this name. */
  readonly after?: string | undefined;
  /** 1 to 10,000, default 1,000. */
  readonly limit?: number | undefined;
}

export interface RunsQuery {
  /** Due at or after. */
  readonly from?: Date | undefined;
  /** Due before. */
  readonly to?: Date | undefined;
  /** 1 to 200, default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | null | undefined;
}

export interface RunsPage {
  /** Newest first. */
  readonly runs: readonly RunView[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export class Schedules {
  readonly #host: () => Promise<ExtensionHost>;
  readonly #engine: ExtensionHost;
  readonly #scheduler: Scheduler;

  /** `host` resolves once the store is open. */
  constructor(
    host: () => Promise<ExtensionHost>,
    { engine, appVersion }: { readonly engine: ExtensionHost; readonly appVersion: string | null },
  ) {
    this.#host = host;
    this.#engine = engine;
    this.#scheduler = new Scheduler(engine, { appVersion });
  }

  /** By name. */
  async list(query: SchedulesQuery = {}): Promise<readonly ScheduleView[]> {
    checkOptions("schedules.list", query, ["prefix", "after", "limit"]);
    const { prefix = "", after = "", limit = 1_000 } = query;
    checkText("prefix", prefix);
    checkText("after", after);
    checkWhole("limit", limit, { min: 1, max: MOST_SHOWN });
    const host = await this.#host();
    const states: ScheduleState[] = [];
    let cursor: string | null = null;
    do {
      const page = await pageOfSchedules(host.records, { cursor, prefix });
      states.push(...page.states.filter(({ name }) => name > after));
      cursor = page.nextCursor;
    } while (cursor !== null && states.length < limit);
    return this.#views(host, states.slice(0, limit));
  }

  async get(name: string): Promise<ScheduleView> {
    const host = await this.#host();
    const found = await readSchedule(host.records, checkScheduleName(name));
    if (!found) throw notFound(name);
    return (await this.#views(host, [found.state]))[0]!;
  }

  /** What became of each tick, newest first; of one that was removed, as long as the ledger has them. */
  async runs(name: string, query: RunsQuery = {}): Promise<RunsPage> {
    const fingerprint = checkScheduleName(name);
    checkOptions("schedules.runs", query, ["from", "to", "limit", "cursor"]);
    const { from, to, limit = 50, cursor = null } = query;
    checkWhole("limit", limit, { min: 1, max: 200 });
    const filter = {
      ...{ kind: TICK, fingerprint },
      ...(from !== undefined && { from: checkDate("from", from) }),
      ...(to !== undefined && { to: checkDate("to", to) }),
    };
    const host = await this.#host();
    const page = await fillPage({ limit, cursor, runtime: host.runtime }, async (part) => {
      const { entries, nextCursor } = await host.ledger((book) => book.read(filter, part));
      return { items: entries, nextCursor };
    });
    // An empty page of a name that was misspelt looks like a schedule that does not fire.
    if (page.items.length === 0 && !(await readSchedule(host.records, fingerprint))) {
      throw notFound(name);
    }
    return { runs: await runViews(host, page.items), nextCursor: page.nextCursor };
  }

  /**
   * Fires once more, now, whatever else runs; its ticks go on as they were. Answers the job's id. Called again after
   * an error it goes on with the same run.
   */
  async runNow(name: string, options: WhyOptions = {}): Promise<{ readonly id: string }> {
    const checked = checkScheduleName(name);
    const why = checkWhy("schedules.runNow", options);
    const host = await this.#host();
    const id = await runNow(host, checked, why);
    if (id === null) throw notFound(name);
    const details = { schedule: checked, job: id };
    await host.audit({ action: "run schedule", ...why, details }, { id: `run:${id}` });
    return { id };
  }

  /** No ticks until it is resumed; those of the meantime are not missed. What runs goes on. */
  async pause(name: string, options: WhyOptions = {}): Promise<void> {
    const why = checkWhy("schedules.pause", options);
    await this.#change("pause schedule", name, why, (state, now) => ({
      ...state,
      paused: { at: now, ...why },
    }));
  }

  async resume(name: string, options: WhyOptions = {}): Promise<void> {
    const why = checkWhy("schedules.resume", options);
    await this.#change("resume schedule", name, why, (state, now) =>
      state.paused === null ? state : { ...enabled(state, now), disabledAt: state.disabledAt },
    );
  }

  /** Makes one, or changes one that was made so. It belongs to the store: no program touches it. */
  async set(name: string, options: ScheduleOptions, why: WhyOptions = {}): Promise<void> {
    const checked = checkScheduleName(name);
    const spoken = checkWhy("schedules.set", why);
    const host = await this.#host();
    const definition = await checkSchedule(host, checked, options);
    const now = await host.jobs.now();
    const about = { origin: "api", appVersion: null, now } as const;
    await limitOwnLines(host, [newSchedule(checked, definition, about)]);
    await changeSchedule(host, checked, (state) => {
      if (state === null) return newSchedule(checked, definition, about);
      if (state.origin === "code" && state.disabledAt === null) throw inCode(checked, "changed");
      return redefined(state, definition, about);
    });
    await this.#audit(host, "set schedule", checked, spoken, { rule: definition.rule });
    await this.#scheduler.changed();
  }

  /** One that live workers declare is refused: it would be back with the next of them. */
  async remove(name: string, options: WhyOptions = {}): Promise<void> {
    const checked = checkScheduleName(name);
    const why = checkWhy("schedules.remove", options);
    const host = await this.#host();
    const found = await readSchedule(host.records, checked);
    if (!found) throw notFound(name);
    const { origin, disabledAt, definition } = found.state;
    if (origin === "code" && disabledAt === null) throw inCode(checked, "removed");
    await removeSchedule(host.records, checked);
    const { queue, group } = definition.job;
    if (group === ownGroup(checked)) await host.lines.limit([{ queue, group, maxActive: null }]);
    await this.#audit(host, "remove schedule", checked, why, {});
    await this.#scheduler.changed();
  }

  /** The next ticks of a rule that may not be stored at all: what a form shows while it is filled in. */
  async preview(
    rule: RuleOptions,
    options: { readonly after?: Date | undefined; readonly count?: number | undefined } = {},
  ): Promise<readonly Date[]> {
    checkOptions("schedules.preview", rule, RULE_OPTIONS);
    checkOptions("schedules.preview", options, ["after", "count"]);
    const checked = checkRule("schedules.preview", rule);
    const { count = NEXT_SHOWN } = options;
    checkWhole("count", count, { min: 1, max: 100 });
    const now =
      options.after === undefined
        ? await (await this.#host()).jobs.now()
        : checkDate("after", options.after);
    const first = firstTick(checked, now) ?? now;
    return dates(ticksAfter(checked, { anchor: first, after: now, count }));
  }

  /** @internal */
  get extension(): Extension {
    return this.#scheduler.extension;
  }

  /** @internal What code says, of `hf.schedule`. */
  declare(name: string, options: ScheduleOptions): void {
    const checked = checkScheduleName(name);
    this.#scheduler.declare(checked, checkSchedule(this.#engine, checked, options));
  }

  /** @internal Brings what is declared into the store. */
  reconcile(): Promise<void> {
    return this.#scheduler.reconcile();
  }

  /** @internal Fires what is due; answers when the next tick is. */
  async tick(): Promise<number | null> {
    if (!this.#scheduler.isUsed) return null;
    await this.#host();
    return this.#scheduler.tick();
  }

  async #change(
    action: string,
    name: string,
    why: Why,
    change: (state: ScheduleState, now: number) => ScheduleState,
  ): Promise<void> {
    const checked = checkScheduleName(name);
    const host = await this.#host();
    const now = await host.jobs.now();
    const state = await changeSchedule(host, checked, (found) => found && change(found, now));
    if (state === null) throw notFound(name);
    await this.#audit(host, action, checked, why, {});
    await this.#scheduler.changed();
  }

  async #audit(
    host: ExtensionHost,
    action: string,
    schedule: string,
    why: Why,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await host.audit({ action, ...why, details: { schedule, ...details } }, {});
  }

  async #views(host: ExtensionHost, states: readonly ScheduleState[]): Promise<ScheduleView[]> {
    const [now, runs] = await Promise.all([host.jobs.now(), lastRuns(host, states)]);
    return states.map((state) =>
      viewOf(host, state, { now, lastRun: runs.get(state.name) ?? null }),
    );
  }
}

function viewOf(
  { redactor }: ExtensionHost,
  state: ScheduleState,
  { now, lastRun }: { readonly now: number; readonly lastRun: RunView | null },
): ScheduleView {
  const { name, definition, origin, appVersion, anchor, paused, disabledAt } = state;
  const { rule, job, overlap, missed: onMissed } = definition;
  const isEnabled = isActive(state);
  const after = Math.max(now, (state.nextAt ?? 1) - 1);
  const next = isEnabled ? ticksAfter(rule, { anchor, after, count: NEXT_SHOWN }) : [];
  return {
    name,
    cron: "cron" in rule ? rule.cron : null,
    timeZone: "cron" in rule ? rule.timeZone : null,
    everyMs: "everyMs" in rule ? rule.everyMs : null,
    job: {
      ...{ type: job.type, queue: job.queue, group: job.group || null },
      payload: redactor.value(decodeJson(job.payload)),
    },
    ...{ overlap, onMissed, enabled: isEnabled, origin, appVersion },
    paused: paused && { ...paused, at: new Date(paused.at) },
    disabledAt: disabledAt === null ? null : new Date(disabledAt),
    ...{ next: dates(next), lastRun },
    ...{ fired: state.fired, skipped: state.skipped, missed: state.missed },
  };
}

function dates(ticks: readonly number[]): Date[] {
  return ticks.map((tick) => new Date(tick));
}

function notFound(name: unknown): ScheduleNotFoundError {
  return new ScheduleNotFoundError(
    `there is no schedule ${cleanText(name, 100)}: schedules.list() has those that are, and one that code declares is stored when a worker starts`,
  );
}

function inCode(name: string, done: string): ScheduleInCodeError {
  return new ScheduleInCodeError(
    `schedule ${name} is declared in code, so it cannot be ${done} here: change the code, or pause it`,
  );
}
