/**
 * Server-sent events. While there are listeners, one tick a second reads the overview once and hands it to all
 * of them; job changes and operations are read once as well, and only if a listener wants them. An event has an
 * id; a listener that comes back with the last one it saw gets what it missed, as long as that is remembered and
 * somebody was there to watch: who lost the connection is waited for, for some seconds.
 */
import type { Alert, Holdfast, Logger, OperationView } from "holdfast";
import type { LetIn } from "../auth/authenticator.ts";
import { sees, type Caller } from "../auth/caller.ts";
import { HttpError, tooMany } from "../http/http-error.ts";
import { isStoreAway } from "../http/error-answer.ts";
import { overviewFor, type OverviewReader } from "../overview.ts";
import { randomText } from "../auth/hash.ts";
import { encodeEvent, EventClient, type StreamEvent } from "./event-client.ts";
import { JobChanges, type JobChange } from "./job-changes.ts";

const TICK_MS = 1_000;
/** A store that has not answered by then is away, for people who look. */
const LATE_MS = 5_000;
const BEAT_EVERY = 15;
const ALERTS_EVERY = 5;
/** A token that is removed is refused within seconds, also where it listens already. */
const SHOW_OUT_EVERY = 5;
/** Browsers come back after two seconds, and after two more if that was too soon. */
const WAITED_FOR_MS = 10_000;
const MOST_REMEMBERED = 500;
const MAX_CLIENTS = 1_000;
const MAX_PER_CALLER = 100;

/** Which job changes a listener wants; null: none. */
export interface JobWish {
  readonly queue?: string | undefined;
  readonly type?: string | undefined;
  readonly group?: string | undefined;
  readonly status?: readonly string[] | undefined;
}

export interface Listener extends LetIn {
  readonly jobs: JobWish | null;
  /** What it saw last; null: it is new. */
  readonly lastId: string | null;
}

interface Remembered {
  readonly seq: number;
  readonly name: "jobs" | "operations" | "store" | "alerts";
  readonly data: unknown;
}

export interface HubOptions {
  readonly hf: Holdfast;
  readonly overview: OverviewReader;
  readonly logger: Logger;
  /** Whose token or session has ended since it was let in. */
  readonly ended: (all: readonly Listener[]) => Promise<readonly Listener[]>;
  readonly maxClients?: number | undefined;
  readonly maxPerCaller?: number | undefined;
  /** A clock that is never set. */
  readonly steady: () => number;
}

interface LetInUntil extends Listener {
  /** On the steady clock. */
  readonly until: number;
}

export class EventHub {
  readonly #options: HubOptions;
  readonly #clients = new Map<EventClient, LetInUntil>();
  readonly #changes: JobChanges;
  /** Changes of jobs are watched until then, on the steady clock. */
  #watchedUntil = -Infinity;
  /** Those behind this event were all seen; null: nobody watches. */
  #watchedFrom: number | null = null;
  /** Of this server: what another one sent cannot be told apart from what this one did. */
  readonly #epoch = randomText(6);
  #seq = 0;
  #remembered: Remembered[] = [];
  /** The last event that is not remembered any more. */
  #forgotten = 0;
  #operations: ReadonlyMap<string, string> | null = null;
  #alerts: ReadonlySet<string> | null = null;
  #isAway = false;
  #timer: NodeJS.Timeout | null = null;
  #ticks = 0;
  #looks = 0;
  #isLooking = false;
  #isLookingAside = false;
  #isClosed = false;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#changes = new JobChanges(options.hf);
  }

  get size(): number {
    return this.#clients.size;
  }

  listen(listener: Listener): ReadableStream<Uint8Array> {
    const { maxClients = MAX_CLIENTS, maxPerCaller = MAX_PER_CALLER, steady } = this.#options;
    if (this.#isClosed) throw new HttpError(503, "closed", "this server is stopping");
    const own = [...this.#clients.values()].filter(
      ({ caller }) => caller.key === listener.caller.key,
    );
    if (own.length >= maxPerCaller) {
      throw tooMany("too_many_listeners", `you have ${own.length} listeners already`, 5_000);
    }
    if (this.#clients.size >= maxClients) {
      throw new HttpError(503, "too_many_listeners", "this server has no room for more listeners", {
        headers: { "retry-after": "5" },
      });
    }
    if (!this.#isWatching()) this.#stopWatching();
    const client = new EventClient(() => this.#leave(client));
    const { goodForMs } = listener.caller;
    const until = goodForMs === null ? Infinity : steady() + goodForMs;
    this.#clients.set(client, { ...listener, until });
    this.#resume(client, listener);
    if (this.#isAway) client.send(encodeEvent(this.#id(this.#seq), "store", { isAway: true }));
    if (this.#timer === null) this.#tick();
    return client.stream;
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const client of [...this.#clients.keys()]) client.close();
  }

  #leave(client: EventClient): void {
    this.#clients.delete(client);
    if (this.#timer === null || this.#isWanted()) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#stopWatching();
  }

  #isWanted(): boolean {
    return this.#clients.size > 0 || this.#isWatching();
  }

  /** Somebody wants changes of jobs, or did a moment ago. */
  #isWatching(): boolean {
    const { steady } = this.#options;
    if ([...this.#clients.values()].some(({ jobs }) => jobs !== null)) {
      this.#watchedUntil = steady() + WAITED_FOR_MS;
    }
    return steady() < this.#watchedUntil;
  }

  /** What came before is behind a gap: ids from now on say so. */
  #stopWatching(): void {
    this.#changes.forget();
    if (this.#watchedFrom === null) return;
    this.#watchedFrom = null;
    this.#seq += 1;
  }

  /** What it missed, or the word that too much was missed. */
  #resume(client: EventClient, listener: Listener): void {
    if (listener.lastId === null) return;
    const [epoch, text = ""] = listener.lastId.split(".");
    const seq = /^\d{1,15}$/.test(text) ? Number(text) : -1;
    const isGap = listener.jobs !== null && seq < (this.#watchedFrom ?? Infinity);
    if (epoch !== this.#epoch || seq < this.#forgotten || seq > this.#seq || isGap) {
      client.send(
        encodeEvent(this.#id(this.#seq), "reset", { reason: "too much has happened since" }),
      );
      return;
    }
    for (const event of this.#remembered) {
      if (event.seq > seq) this.#sendTo(client, listener, event);
    }
  }

  /** Beats go on while a read takes long: a stream that says nothing is cut by proxies. */
  #tick(): void {
    this.#ticks += 1;
    if (this.#ticks % BEAT_EVERY === 0) for (const client of this.#clients.keys()) client.beat();
    const now = this.#options.steady();
    for (const [client, { until }] of this.#clients) if (until <= now) client.close();
    // A read that takes longer than a second is waited for: never two at once.
    if (!this.#isLooking) void this.#lookInTime();
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#isWanted()) this.#tick();
      else this.#stopWatching();
    }, TICK_MS);
    this.#timer.unref();
  }

  async #lookInTime(): Promise<void> {
    this.#isLooking = true;
    const late = setTimeout(() => this.#noteAway(true), LATE_MS);
    late.unref();
    try {
      await this.#look();
    } catch (error) {
      const isNews = !this.#isAway && !isStoreAway(error);
      if (isNews) this.#options.logger.error("listeners could not be told", { error });
      this.#noteAway(true);
    } finally {
      clearTimeout(late);
      this.#isLooking = false;
    }
  }

  async #look(): Promise<void> {
    const { hf, overview } = this.#options;
    this.#looks += 1;
    const snapshot = await overview.read();
    this.#noteAway(false);
    void this.#lookAside(this.#looks);
    this.#noteOperations(snapshot.operations);
    if (this.#isWatching()) {
      const { changes, isCut } = await this.#changes.look();
      this.#watchedFrom ??= this.#seq;
      if (changes.length > 0) this.#publish("jobs", { items: changes, isCut });
    } else {
      this.#stopWatching();
    }
    // Null: all of them. No queue at all is not the same.
    const made = new Map<string | null, StreamEvent>();
    const id = this.#id(this.#seq);
    for (const [client, { caller }] of this.#clients) {
      const scope = caller.queues === null ? null : [...caller.queues].sort().join(" ");
      let event = made.get(scope);
      // Once for all who see the same.
      if (!event)
        made.set(scope, (event = encodeEvent(id, "overview", overviewFor(hf, snapshot, caller))));
      client.send(event);
    }
  }

  #noteAway(isAway: boolean): void {
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    this.#publish("store", { isAway });
  }

  #noteOperations(operations: readonly OperationView[]): void {
    const before = this.#operations;
    const now = new Map(operations.map((one) => [one.id, JSON.stringify(one)]));
    this.#operations = now;
    // What was there at the first look is not news.
    if (before === null) return;
    const changed = operations.filter(({ id }) => before.get(id) !== now.get(id));
    if (changed.length > 0) this.#publish("operations", { items: changed });
  }

  /**
   * What is in the ledger's store. There may be no ledger, or one that is away or slow: that is no news of the jobs'
   * store, and keeps nobody from the overview.
   */
  async #lookAside(look: number): Promise<void> {
    if (this.#isLookingAside) return;
    this.#isLookingAside = true;
    const trouble = (error: unknown) => {
      this.#options.logger.debug("tokens or alerts could not be looked at", { error });
    };
    if (look % SHOW_OUT_EVERY === 0) await this.#showOut().catch(trouble);
    if (look % ALERTS_EVERY === 1) await this.#noteAlerts().catch(trouble);
    this.#isLookingAside = false;
  }

  async #showOut(): Promise<void> {
    const ended = new Set(await this.#options.ended([...this.#clients.values()]));
    for (const [client, listener] of this.#clients) if (ended.has(listener)) client.close();
  }

  /** Those of the whole fleet; what was there at the first look is not news. */
  async #noteAlerts(): Promise<void> {
    const page = await this.#options.hf.alerts.list({ limit: 20 });
    const known = this.#alerts;
    this.#alerts = new Set(page.alerts.map(({ id }) => id));
    const news = known === null ? [] : page.alerts.filter(({ id }) => !known.has(id));
    if (news.length > 0) this.#publish("alerts", { items: news });
  }

  #publish(name: Remembered["name"], data: unknown): void {
    this.#seq += 1;
    const event = { seq: this.#seq, name, data };
    this.#remembered.push(event);
    if (this.#remembered.length > MOST_REMEMBERED) {
      this.#forgotten = this.#remembered.shift()?.seq ?? 0;
    }
    for (const [client, listener] of this.#clients) this.#sendTo(client, listener, event);
  }

  #sendTo(client: EventClient, { caller, jobs }: Listener, { seq, name, data }: Remembered): void {
    const shown = visible(name, data, caller, jobs);
    if (shown !== null) client.send(encodeEvent(this.#id(seq), name, shown));
  }

  #id(seq: number): string {
    return `${this.#epoch}.${seq}`;
  }
}

function visible(
  name: Remembered["name"],
  data: unknown,
  caller: Caller,
  wish: JobWish | null,
): unknown {
  if (name === "store") return data;
  if (name === "alerts") {
    const { items } = data as { readonly items: readonly Alert[] };
    const own = items.filter((alert) => sees(caller, "queue" in alert ? alert.queue : undefined));
    return own.length > 0 ? { items: own } : null;
  }
  if (name === "operations") {
    const { items } = data as { readonly items: readonly OperationView[] };
    const own = items.filter(({ filter }) => sees(caller, filter.queue as string | undefined));
    return own.length > 0 ? { items: own } : null;
  }
  if (wish === null) return null;
  const { items, isCut } = data as {
    readonly items: readonly JobChange[];
    readonly isCut: boolean;
  };
  const own = items.filter(
    ({ queue, type, group, status }) =>
      sees(caller, queue) &&
      (wish.queue ?? queue) === queue &&
      (wish.type ?? type) === type &&
      (wish.group ?? group) === group &&
      (wish.status?.includes(status) ?? true),
  );
  return own.length > 0 ? { items: own, isCut } : null;
}
