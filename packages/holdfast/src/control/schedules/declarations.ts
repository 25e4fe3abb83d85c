/**
 * The schedules that this process's code declares, and how they come into the store. They are reconciled when a
 * worker starts: what is new is made, what differs is changed unless a live worker with a higher `appVersion`
 * declares it otherwise. Names that live workers declare are in records that expire; what none of them has for
 * more than an hour is disabled, and shown, not deleted.
 */
import { compareVersions } from "../../core/compare-versions.ts";
import { InvalidOptionError } from "../../core/errors.ts";
import { putRecord } from "../../core/put-record.ts";
import {
  declaredAgain,
  newSchedule,
  redefined,
  type ScheduleDefinition,
  type ScheduleState,
} from "../../core/schedule.ts";
import { derivedUuid, type ExtensionHost } from "../../engine/extension.ts";
import { ownGroup } from "./schedule-options.ts";
import {
  announce,
  changeSchedule,
  readSchedules,
  writeSchedules,
  type Write,
} from "./schedule-records.ts";

const DECLARED = "holdfast/declared-schedules/";
const HOUR_MS = 3_600_000;
/** A declaration is looked at this often, and lives an hour longer than its last worker. */
const LOOK_MS = 300_000;
const LIVES_MS = HOUR_MS + 2 * LOOK_MS;
const CHUNK = 200;

export class Declarations {
  readonly #host: ExtensionHost;
  readonly #appVersion: string | null;
  readonly #declared = new Map<string, ScheduleDefinition | Promise<ScheduleDefinition>>();
  /** Names that are not in the store as this process declares them. */
  readonly #pending = new Set<string>();
  /** Names that a higher version has, which may be rolled back while we live. */
  readonly #outranked = new Set<string>();
  readonly #told = new Set<string>();
  #renewedAt = -Infinity;
  /** Declared by no live worker when it was last looked. */
  #absent: ReadonlySet<string> = new Set();

  constructor(host: ExtensionHost, appVersion: string | null) {
    this.#host = host;
    this.#appVersion = appVersion;
  }

  get size(): number {
    return this.#declared.size;
  }

  add(name: string, definition: ScheduleDefinition | Promise<ScheduleDefinition>): void {
    if (this.#declared.has(name)) {
      throw new InvalidOptionError(
        `schedule ${name} is declared already: one name, one schedule in a process`,
      );
    }
    this.#declared.set(name, definition);
    this.#pending.add(name);
    // Heard of when it is awaited.
    if (definition instanceof Promise) definition.catch(() => {});
  }

  /** Brings what was declared into the store, once, and lets the fleet know that it is declared here. */
  async reconcile(): Promise<void> {
    if (this.#declared.size === 0) return;
    if (this.#pending.size > 0) {
      // Said before it is looked at: who disables it meanwhile looks again afterwards.
      await this.#renew();
      await this.#bring([...this.#pending], "change");
    } else if (this.#host.runtime.monotonic() - this.#renewedAt >= LOOK_MS) {
      // After an outage of an hour others may have disabled what is declared here.
      if (await this.#renew()) await this.#bring([...this.#declared.keys()], "enable");
      if (this.#outranked.size > 0) await this.#bring([...this.#outranked], "change");
    }
  }

  /** Disables what no live worker has declared for an hour, seen twice: others may just be starting. */
  async sweep(names: readonly string[]): Promise<boolean> {
    const known = await this.#declaredByAny();
    const absent = new Set(names.filter((name) => !known.has(name)));
    const gone = [...absent].filter((name) => this.#absent.has(name));
    this.#absent = absent;
    const now = gone.length > 0 ? await this.#host.jobs.now() : 0;
    for (const name of gone) {
      await changeSchedule(this.#host, name, (state) =>
        state?.origin === "code" && state.disabledAt === null
          ? { ...state, disabledAt: now }
          : null,
      );
      this.#host.logger.warn(
        `schedule ${name} is disabled: no live worker has declared it for an hour. ` +
          "schedules.remove forgets it, a worker that declares it enables it",
      );
    }
    if (gone.length === 0) return false;
    await this.#back(gone);
    await announce(this.#host);
    return true;
  }

  /** A worker that started in that moment found them enabled, and does not look again. */
  async #back(names: readonly string[]): Promise<void> {
    const known = await this.#declaredByAny();
    const now = await this.#host.jobs.now();
    for (const name of names) {
      if (!known.has(name)) continue;
      await changeSchedule(this.#host, name, (state) =>
        state === null || state.disabledAt === null ? null : declaredAgain(state, now),
      );
    }
  }

  async #bring(names: readonly string[], how: "change" | "enable"): Promise<void> {
    let left = names;
    let isChanged = false;
    while (left.length > 0) {
      const raced: string[] = [];
      for (let from = 0; from < left.length; from += CHUNK) {
        const part = await this.#bringPart(left.slice(from, from + CHUNK), how);
        raced.push(...part.raced);
        isChanged ||= part.isChanged;
      }
      left = raced;
    }
    if (isChanged) await announce(this.#host);
    for (const name of names) this.#pending.delete(name);
  }

  async #bringPart(names: readonly string[], how: "change" | "enable") {
    const host = this.#host;
    const found = await readSchedules(host.records, names);
    const now = await host.jobs.now();
    const writes: Write[] = [];
    for (const [at, name] of names.entries()) {
      const definition = await this.#definitionOf(name);
      if (!definition) continue;
      const state = found[at]?.state ?? null;
      const next = await this.#next(name, { state, definition, how, now });
      if (next) writes.push({ state: next, expect: found[at]?.version ?? null });
    }
    await limitOwnLines(
      host,
      writes.map(({ state }) => state),
    );
    const written = await writeSchedules(host, writes);
    const raced = writes.flatMap(({ state }, at) => (written[at] ? [] : [state.name]));
    return { raced, isChanged: writes.length > raced.length };
  }

  async #definitionOf(name: string): Promise<ScheduleDefinition | null> {
    try {
      return (await this.#declared.get(name)) ?? null;
    } catch (error) {
      this.#tellOnce(name, `schedule ${name} is not stored: its job is not one`, error);
      return null;
    }
  }

  /** Null: it stays as it is. */
  async #next(
    name: string,
    given: {
      readonly state: ScheduleState | null;
      readonly definition: ScheduleDefinition;
      readonly how: "change" | "enable";
      readonly now: number;
    },
  ): Promise<ScheduleState | null> {
    const { state, definition, how, now } = given;
    const about = { origin: "code", appVersion: this.#appVersion, now } as const;
    if (state === null) return newSchedule(name, definition, about);
    if (state.origin === "api") {
      this.#tellOnce(name, `schedule ${name} was made by an operator: what code says is not heard`);
      return null;
    }
    const isSame = JSON.stringify(state.definition) === JSON.stringify(definition);
    const isNewer = compareVersions(this.#appVersion, state.appVersion) > 0;
    if (how === "enable" || (isSame && !isNewer)) {
      return state.disabledAt === null ? null : declaredAgain(state, now);
    }
    this.#outranked.delete(name);
    if (await this.#isOutranked(state)) {
      this.#outranked.add(name);
      const message = `schedule ${name} is as version ${state.appVersion} declares it, not as here`;
      this.#tellOnce(name, message);
      return null;
    }
    return redefined(state, definition, about);
  }

  /** A higher version that no worker runs any more was rolled back: it says nothing. */
  async #isOutranked({ appVersion }: ScheduleState): Promise<boolean> {
    if (compareVersions(this.#appVersion, appVersion) >= 0) return false;
    const fleet = await this.#host.workers.list();
    return fleet.some(({ version }) => compareVersions(version, this.#appVersion) > 0);
  }

  /** True: it was not known any more that these are declared. Of many processes of one program one writes. */
  async #renew(): Promise<boolean> {
    const { records, runtime, jobs } = this.#host;
    const names = [...this.#declared.keys()].sort();
    const set = derivedUuid("schedules", ...names);
    const chunks = Math.ceil(names.length / CHUNK);
    const keys = Array.from(
      { length: chunks },
      (_, chunk) => `${DECLARED}${set}/${String(chunk).padStart(5, "0")}`,
    );
    const found = await records.read(keys);
    const now = await jobs.now();
    for (const [chunk, key] of keys.entries()) {
      const leftMs = (found[chunk]?.expiresAt ?? 0) - now;
      if (leftMs > LIVES_MS - LOOK_MS) continue;
      const value = JSON.stringify(names.slice(chunk * CHUNK, (chunk + 1) * CHUNK));
      await putRecord(records, key, { value, ttlMs: LIVES_MS });
    }
    this.#renewedAt = runtime.monotonic();
    return found.includes(null);
  }

  async #declaredByAny(): Promise<Set<string>> {
    const names = new Set(this.#declared.keys());
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<ExtensionHost["records"]["scan"]>> =
        await this.#host.records.scan({ prefix: DECLARED, limit: CHUNK, cursor });
      for (const { value } of page.records) {
        for (const name of JSON.parse(value) as string[]) names.add(name);
      }
      cursor = page.nextCursor;
    } while (cursor !== null);
    return names;
  }

  #tellOnce(name: string, message: string, error?: unknown): void {
    const key = `${name} ${message}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#host.logger.warn(message, error === undefined ? {} : { error });
  }
}

/** A line of a schedule's own runs one job at a time. */
export async function limitOwnLines(
  { lines }: Pick<ExtensionHost, "lines">,
  states: readonly ScheduleState[],
): Promise<void> {
  const changes = states.flatMap(({ name, definition }) => {
    const { queue, group } = definition.job;
    return group === ownGroup(name) ? [{ queue, group, maxActive: 1 }] : [];
  });
  if (changes.length > 0) await lines.limit(changes);
}
