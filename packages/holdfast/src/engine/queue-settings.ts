/**
 * How long the jobs of each queue are kept, the same for every process. Retention is applied to the whole
 * store, so it cannot be each process's own: the process that keeps least would decide for all.
 *
 * What the code says (`retention`) is declared in a record when a worker starts. Of two programs that say
 * different things the one with the higher `appVersion` is obeyed, else the one that started last; the other
 * is told. What an operator sets for a queue comes before what any code says.
 */
import { compareVersions } from "../core/compare-versions.ts";
import { FINISHED_STATUSES, type FinishedStatus } from "../core/job.ts";
import type { Records } from "../core/records.ts";
import type { Fleet } from "./lease/fleet.ts";
import type { Logger } from "./logger.ts";
import type { KeepRule, KeepRules, Retention, RetentionOptions } from "./retention.ts";

const DECLARED = "holdfast/retention";
const QUEUES = "holdfast/queues/";
const PAGE = 200;

/** As they are stored. */
export interface QueueKeep {
  readonly keep: { readonly [Status in FinishedStatus]?: KeepRule | null };
}

interface Declaration {
  readonly retention: RetentionOptions;
  readonly appVersion: string | null;
}

export interface QueueSettingsOptions {
  readonly records: Records;
  readonly fleet: Pick<Fleet, "onChange" | "announceChange">;
  readonly logger: Logger;
  readonly retention: Retention;
  /** What this process's code says; undefined: nothing. */
  readonly declared: RetentionOptions | undefined;
  readonly appVersion: string | null;
}

export class QueueSettings {
  readonly #options: QueueSettingsOptions;
  /** Has this process read them, and nothing changed since? */
  #isRead = false;
  #isDeclared = false;
  /** What it was told of already. */
  #told = "";

  constructor(options: QueueSettingsOptions) {
    this.#options = options;
    options.fleet.onChange(() => (this.#isRead = false));
  }

  /** Before anything is pruned or discarded: what holds for the fleet is known here. */
  async obey(): Promise<void> {
    if (this.#isRead) return;
    this.#isRead = true;
    try {
      if (!this.#isDeclared) await this.#declare();
      this.#isDeclared = true;
      await this.#read();
    } catch (error) {
      this.#isRead = false;
      throw error;
    }
  }

  /** The settings of queues that have some, by name. */
  async list(): Promise<Map<string, QueueKeep>> {
    const settings = new Map<string, QueueKeep>();
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<Records["scan"]>> = await this.#options.records.scan({
        ...{ prefix: QUEUES, limit: PAGE, cursor },
      });
      for (const { key, value } of page.records) {
        settings.set(key.slice(QUEUES.length), JSON.parse(value) as QueueKeep);
      }
      cursor = page.nextCursor;
    } while (cursor !== null);
    return settings;
  }

  async get(queue: string): Promise<QueueKeep["keep"]> {
    const [found] = await this.#options.records.read([QUEUES + queue]);
    return found ? (JSON.parse(found.value) as QueueKeep).keep : {};
  }

  /** A status that is left out stays as it is; null clears them all. */
  async keep(queue: string, rules: KeepRules | null): Promise<void> {
    const { records, fleet } = this.#options;
    const key = QUEUES + queue;
    for (;;) {
      const [found] = await records.read([key]);
      if (!found && rules === null) return;
      const before = found ? (JSON.parse(found.value) as QueueKeep) : { keep: {} };
      const after: QueueKeep = { ...before, keep: { ...before.keep, ...rules } };
      const value = rules === null ? null : JSON.stringify(after);
      const [result] = await records.swap([
        { key, expect: found?.version ?? null, value, ttlMs: null },
      ]);
      if (result?.swapped) break;
    }
    await fleet.announceChange();
  }

  async #declare(): Promise<void> {
    const { records, fleet, declared, appVersion } = this.#options;
    if (declared === undefined) return;
    const own: Declaration = { retention: declared, appVersion };
    const value = JSON.stringify(own);
    for (;;) {
      const [found] = await records.read([DECLARED]);
      if (found?.value === value) return;
      const other = found ? (JSON.parse(found.value) as Declaration) : null;
      if (other && compareVersions(appVersion, other.appVersion) < 0) return;
      const expect = found?.version ?? null;
      const [result] = await records.swap([{ key: DECLARED, expect, value, ttlMs: null }]);
      if (!result?.swapped) continue;
      await fleet.announceChange();
      return;
    }
  }

  async #read(): Promise<void> {
    const { records, retention, declared } = this.#options;
    const [found] = await records.read([DECLARED]);
    const general = found ? (JSON.parse(found.value) as Declaration).retention : (declared ?? {});
    const queues = new Map(Object.entries(general.queues ?? {}));
    for (const [queue, { keep }] of await this.list()) {
      queues.set(queue, { ...queues.get(queue), ...keep });
    }
    const inForce = { ...general, queues: Object.fromEntries(queues) };
    retention.obey(inForce);
    this.#tell(inForce);
  }

  /** What differs from what this process's code says, once. */
  #tell(inForce: RetentionOptions): void {
    const { declared, logger } = this.#options;
    if (declared === undefined) return;
    const differing = differences({ ...declared, queues: declared.queues ?? {} }, inForce);
    const words = JSON.stringify([differing, inForce]);
    if (differing.length === 0 || this.#told === words) return;
    this.#told = words;
    logger.warn(
      `the store says otherwise than the retention of this process: ${differing.join(", ")}. ` +
        "It is obeyed; hf.queues.set changes it, and so does a program with a higher appVersion",
      { inForce, here: declared },
    );
  }
}

/** The names of the rules that code gives and the store gives otherwise. */
function differences(code: RetentionOptions, inForce: RetentionOptions): string[] {
  const { queues = {}, ...general } = code;
  const names = Object.keys(general) as (keyof typeof general)[];
  const ofQueues = Object.entries(queues).flatMap(([queue, rules]) =>
    FINISHED_STATUSES.filter(
      (status) =>
        rules[status] !== undefined && !isSame(rules[status], inForce.queues?.[queue]?.[status]),
    ).map((status) => `${status} of ${queue}`),
  );
  return [...names.filter((name) => !isSame(general[name], inForce[name])), ...ofQueues];
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
