/**
 * What this process knows of the others that work on the same store, through one record each: renewed
 * every five seconds, gone after twenty. It names the process's workers with their queues, slots and
 * lease lengths. Three things stand on it: no process reaps before the longest lease in the fleet had
 * its time to be renewed; few workers answer a wakeup; an operator sees who works, and can quiet a worker.
 *
 * The same look tells whether settings changed, so that no process has to ask for them again and again.
 */
import type { Records, StoredRecord } from "../../core/records.ts";
import type { Runtime } from "../runtime.ts";
import { QueueLists } from "./queue-lists.ts";

export const BEAT_EVERY_MS = 5_000;
const GONE_AFTER_MS = 20_000;
/** While a process has work, it hears of commands within a second. */
export const LOOK_WHILE_BUSY_MS = 1_000;
const PREFIX = "holdfast/workers/";
const PROCESS = `${PREFIX}process/`;
const QUIET = `${PREFIX}quiet/`;
/** Its version grows whenever something changed that every process must read again. */
const CHANGED = `${PREFIX}changed`;
/** A worker that is gone takes no notice of a command: it is forgotten some day. */
const QUIET_FOR_MS = 7 * 86_400_000;
const PAGE = 200;
/** Before any record is known: the default lease. */
const DEFAULT_LEASE_MS = 10_000;
/** Of what runs, so much is shown. */
const MOST_RUNNING = 20;

export interface WorkerView {
  readonly id: string;
  readonly queues: readonly string[];
  readonly types: readonly string[];
  readonly concurrency: number;
  readonly leaseMs: number;
  /** How many jobs run. */
  readonly active: number;
  /** Some of them. */
  readonly running: readonly { readonly id: string; readonly type: string }[];
  readonly isQuiet: boolean;
}

export interface ProcessView {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string | null;
  readonly startedAt: number;
  /** By its own clock, when the record was written. */
  readonly seenAt: number;
  /** By how much its event loop was late at most since the record before; null: not known. */
  readonly loopDelayMs: number | null;
  readonly memoryBytes: number | null;
  readonly workers: readonly WorkerView[];
}

/** A worker of this process, as the fleet sees it. */
export interface FleetMember {
  readonly id: string;
  readonly leaseMs: number;
  /** How many jobs run. */
  readonly active: number;
  view(): WorkerView;
  quiet(isQuiet: boolean): void;
}

export interface FleetOptions {
  readonly records: Records;
  readonly runtime: Runtime;
  /** The user's own name for the code that runs. */
  readonly version: string | null;
}

interface Found {
  readonly processes: readonly ProcessView[];
  /** Ids of workers. */
  readonly quieted: ReadonlySet<string>;
  readonly changed: number | null;
}

export class Fleet {
  readonly id: string;
  readonly #options: FleetOptions;
  readonly #startedAt: number;
  readonly #members = new Set<FleetMember>();
  readonly #lists: QueueLists;
  /** Names of workers that have room by queue, this process's own included. */
  #byQueue = new Map<string, readonly string[]>();
  #processes: readonly string[] = [];
  #longestLeaseMs = DEFAULT_LEASE_MS;
  /** Asked at every call of the store. */
  #shortestOwnMs = DEFAULT_LEASE_MS;
  #longestOwnMs = 0;
  #version: number | null = null;
  readonly #listeners = new Set<() => void>();
  #changed: number | null = null;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#lists = new QueueLists(options);
    this.id = options.runtime.workerId();
    this.#startedAt = options.runtime.wallClock();
  }

  get size(): number {
    return this.#members.size;
  }

  /** Others must know of its lease before it has one, so this waits for the record. */
  async join(member: FleetMember): Promise<void> {
    this.#members.add(member);
    this.#measureOwn();
    await this.beat();
    await this.look();
  }

  /** What the workers of this process take. */
  get ownQueues(): ReadonlySet<string> {
    return new Set([...this.#members].flatMap((member) => member.view().queues));
  }

  leave(member: FleetMember): void {
    this.#members.delete(member);
    this.#measureOwn();
  }

  /** The processes that had a worker when this one last looked, by id. */
  get processes(): readonly string[] {
    return this.#processes;
  }

  /** The longest lease of any live worker. */
  get longestLeaseMs(): number {
    return Math.max(this.#longestOwnMs, this.#longestLeaseMs);
  }

  /** The shortest lease of this process's own workers: contact must be closer than that. */
  get shortestOwnLeaseMs(): number {
    return this.#shortestOwnMs;
  }

  get isBusy(): boolean {
    return [...this.#members].some(({ active }) => active > 0);
  }

  /**
   * Where a worker stands among those of a queue that had room lately, in the order that this lot gives them: 0 is first. All
   * processes come to the same order without a word.
   */
  rankOf(worker: string, queue: string, lot: number): number {
    const workers = this.#byQueue.get(queue) ?? [];
    const own = drawn(worker, lot);
    return workers.filter((other) => other !== worker && drawn(other, lot) < own).length;
  }

  /** Writes this process's record. */
  async beat(): Promise<void> {
    const key = PROCESS + this.id;
    const value = this.#members.size === 0 ? null : JSON.stringify(await this.#view());
    const swap = (expect: number | null) =>
      this.#options.records.swap([{ key, expect, value, ttlMs: GONE_AFTER_MS }]);
    const [result] = await swap(this.#version);
    if (result?.swapped) {
      this.#version = result.version;
    } else if (result) {
      // It expired meanwhile, or the last reply got lost: no other process writes this key.
      const [again] = await swap(result.current?.version ?? null);
      this.#version = again?.swapped ? again.version : null;
    }
  }

  /** Calls back when another process (or this one) has announced a change. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Lets every process know that settings changed: within a second while it is busy, five while idle. */
  async announceChange(): Promise<void> {
    const { records } = this.#options;
    for (;;) {
      const [found] = await records.read([CHANGED]);
      const expect = found?.version ?? null;
      const [result] = await records.swap([{ key: CHANGED, expect, value: "{}", ttlMs: null }]);
      if (result?.swapped) return this.#heard(result.version);
    }
  }

  #heard(version: number | null): void {
    if (version === this.#changed) return;
    this.#changed = version;
    for (const listener of this.#listeners) listener();
  }

  /** Reads what the others wrote, and what operators want of our workers. */
  async look(): Promise<void> {
    const { processes, quieted, changed } = await this.#read();
    this.#heard(changed);
    this.#processes = processes.map(({ id }) => id);
    const workers = processes.flatMap((process) => process.workers);
    this.#longestLeaseMs = Math.max(...workers.map(({ leaseMs }) => leaseMs), 0);
    if (workers.length === 0) this.#longestLeaseMs = DEFAULT_LEASE_MS;
    const byQueue = new Map<string, string[]>();
    for (const { id, queues, isQuiet, active, concurrency } of workers) {
      // Nobody leaves a job to a worker that does not ask.
      if (isQuiet || active >= concurrency) continue;
      for (const queue of queues) {
        const known = byQueue.get(queue);
        if (known) known.push(id);
        else byQueue.set(queue, [id]);
      }
    }
    this.#byQueue = byQueue;
    for (const member of this.#members) member.quiet(quieted.has(member.id));
  }

  /** Only what operators want: for the seconds in between. */
  async hear(): Promise<void> {
    const members = [...this.#members];
    if (members.length === 0) return;
    const keys = members.map(({ id }) => QUIET + id);
    const [changed, ...found] = await this.#options.records.read([CHANGED, ...keys]);
    this.#heard(changed?.version ?? null);
    members.forEach((member, at) => member.quiet(found[at] != null));
  }

  async list(): Promise<readonly ProcessView[]> {
    return (await this.#read()).processes;
  }

  /** False: no live worker has this name. */
  async command(worker: string, isQuiet: boolean): Promise<boolean> {
    const { processes } = await this.#read();
    const isKnown = processes.some(({ workers }) => workers.some(({ id }) => id === worker));
    if (!isKnown) return false;
    const { records } = this.#options;
    const key = QUIET + worker;
    for (;;) {
      const [found] = await records.read([key]);
      if ((found != null) === isQuiet) break;
      const value = isQuiet ? "{}" : null;
      const expect = found?.version ?? null;
      const [result] = await records.swap([{ key, expect, value, ttlMs: QUIET_FOR_MS }]);
      if (result?.swapped) break;
    }
    for (const member of this.#members) if (member.id === worker) member.quiet(isQuiet);
    return true;
  }

  #measureOwn(): void {
    const own = [...this.#members].map(({ leaseMs }) => leaseMs);
    this.#longestOwnMs = Math.max(0, ...own);
    this.#shortestOwnMs = own.length === 0 ? DEFAULT_LEASE_MS : Math.min(...own);
  }

  async #read(): Promise<Found> {
    const processes: ProcessView[] = [];
    const quieted = new Set<string>();
    let changed: number | null = null;
    let cursor: string | null = null;
    do {
      const page: { records: readonly StoredRecord[]; nextCursor: string | null } =
        await this.#options.records.scan({ prefix: PREFIX, limit: PAGE, cursor });
      for (const { key, value, version } of page.records) {
        if (key === CHANGED) changed = version;
        else if (key.startsWith(QUIET)) quieted.add(key.slice(QUIET.length));
        else processes.push(JSON.parse(value) as ProcessView);
      }
      cursor = page.nextCursor;
    } while (cursor !== null);
    const workers = await this.#lists.expand(processes.flatMap((process) => process.workers));
    const whole = processes.map((process) => ({
      ...process,
      workers: workers.splice(0, process.workers.length),
    }));
    return { processes: whole, quieted, changed };
  }

  async #view(): Promise<ProcessView> {
    const [host, pid] = splitId(this.id);
    const { runtime } = this.#options;
    const load = runtime.load?.() ?? { loopDelayMs: null, memoryBytes: null };
    const views = [...this.#members].map((member) => member.view());
    const workers = await this.#lists.shorten(views);
    return {
      ...{ id: this.id, host, pid: Number(pid), version: this.#options.version },
      startedAt: this.#startedAt,
      seenAt: runtime.wallClock(),
      ...load,
      workers: workers.map((view) => ({ ...view, running: view.running.slice(0, MOST_RUNNING) })),
    };
  }
}

/** `host:pid:chance`; a host may have colons of its own. */
function splitId(id: string): [string, string] {
  const parts = id.split(":");
  return [parts.slice(0, -2).join(":"), parts.at(-2) ?? ""];
}

/** A number for this worker in this lot (FNV-1a over both). */
function drawn(worker: string, lot: number): number {
  const text = `${lot}/${worker}`;
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
