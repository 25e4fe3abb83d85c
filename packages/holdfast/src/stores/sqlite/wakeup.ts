/**
 * Wakeups: to whoever listens in this process, and through `WakeSocket` to the other processes on
 * the same file. They are hints: losing one costs latency only.
 *
 * The truth behind them is a look at `PRAGMA data_version` every half second while somebody listens.
 * It changes when any other connection has committed, and then every queue with open lines is woken.
 *
 * Other processes are told how many jobs were inserted, if that was all, and a lot they all hear: so a
 * few of them come for a few jobs (see `Wakeup`). Listeners in this process are told neither: of them
 * there are few, and they are asked first.
 */
import type { Wakeup } from "../../core/store.ts";
import type { Connection } from "./connection.ts";
import type { WakeSocket } from "./wake-socket.ts";

const POLL_MS = 500;
/** Hints to other processes are sent at once, then gathered for so long. */
const GATHER_MS = 5;
/**
 * While very many jobs finish, and nothing else happens, what has finished is gathered for longer. With
 * eight busy processes, telling each of the others every five milliseconds cost more than settling.
 */
const GATHER_FINISHED_MS = 25;
const MANY_FINISHED = 20;

const DATA_VERSION = "PRAGMA data_version";
const OPEN_QUEUES = `
  SELECT name FROM holdfast_queue q WHERE EXISTS (
    SELECT 1 FROM holdfast_line n INDEXED BY holdfast_line_open WHERE n.q = q.q AND n.state = 1)`;

export class Wakeups {
  readonly #listeners = new Set<(wakeup: Wakeup) => void>();
  readonly #near = new Hints();
  readonly #far = new Hints();
  #isOnItsWay = false;
  #gathering: NodeJS.Timeout | null = null;
  #isGatheringLong = false;
  #socket: WakeSocket | null = null;
  #connection: Connection | null = null;
  #poll: NodeJS.Timeout | null = null;
  #dataVersion: unknown = null;

  /** The same function may listen twice: each has its own way to stop. */
  listen(listener: (wakeup: Wakeup) => void): () => void {
    const own = (wakeup: Wakeup): void => listener(wakeup);
    this.#listeners.add(own);
    this.#listenersChanged();
    return () => {
      this.#listeners.delete(own);
      this.#listenersChanged();
    };
  }

  open(connection: Connection, socket: WakeSocket | null): void {
    this.#connection = connection;
    this.#socket = socket;
    this.#dataVersion = connection.value(DATA_VERSION);
    this.#listenersChanged();
  }

  /** Sends what is on its way to other processes and forgets the rest. */
  close(): void {
    this.#sendFar();
    this.#connection = null;
    this.#socket = null;
    this.#listeners.clear();
    this.#near.clear();
    this.#listenersChanged();
  }

  /**
   * Work of this process is about to be stored. A worker that is idle here leases at once, and its
   * lease joins the transaction of the insert: one commit from enqueuing a job to starting it.
   */
  expected(queue: string): void {
    if (this.#listeners.size === 0) return;
    this.#near.add([queue], []);
    this.#deliverSoon();
  }

  /** After a commit of this process. `added`: so many jobs were inserted, and that was all. */
  committed(queues: readonly string[], finished: readonly string[], added?: number): void {
    if (this.#listeners.size > 0) {
      this.#near.add(queues, finished);
      if (!this.#near.isEmpty) this.#deliverSoon();
    }
    if (this.#socket?.hasListeningPeers !== true) return;
    this.#far.add(queues, finished, added);
    if (this.#far.isEmpty) return;
    if (this.#gathering === null) this.#gather(this.#sendFar());
    // Somebody may be idle there: work is not kept from them for as long as news.
    else if (this.#isGatheringLong && queues.length > 0) this.#gather(false);
  }

  #gather(isLong: boolean): void {
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#isGatheringLong = isLong;
    this.#gathering = setTimeout(
      () => {
        this.#gathering = null;
        if (!this.#far.isEmpty) this.#gather(this.#sendFar());
      },
      isLong ? GATHER_FINISHED_MS : GATHER_MS,
    );
  }

  /** From another process, one by one: what two senders say cannot be added up. */
  arrived(wakeup: Wakeup): void {
    for (const listener of [...this.#listeners]) listener(wakeup);
  }

  /** Answers whether it was only news of very many jobs. */
  #sendFar(): boolean {
    const wakeup = this.#far.take();
    if (wakeup === null) return false;
    const isCounted = wakeup.added !== undefined;
    this.#socket?.send({ ...wakeup, ...(isCounted && { lot: Math.random() }) });
    return wakeup.queues.length === 0 && wakeup.finished.length >= MANY_FINISHED;
  }

  /** Later than the verb that caused it: a listener that calls the store must not be inside a verb. */
  #deliverSoon(): void {
    if (this.#isOnItsWay) return;
    this.#isOnItsWay = true;
    queueMicrotask(() => {
      this.#isOnItsWay = false;
      const wakeup = this.#near.take();
      if (wakeup === null) return;
      for (const listener of [...this.#listeners]) listener(wakeup);
    });
  }

  #listenersChanged(): void {
    const isListening = this.#listeners.size > 0 && this.#connection !== null;
    this.#socket?.setListening(isListening);
    if (isListening && this.#poll === null) {
      this.#poll = setInterval(() => this.#look(), POLL_MS).unref();
    } else if (!isListening && this.#poll !== null) {
      clearInterval(this.#poll);
      this.#poll = null;
    }
  }

  #look(): void {
    const connection = this.#connection;
    if (connection === null) return;
    try {
      const version = connection.value(DATA_VERSION);
      if (version === this.#dataVersion) return;
      this.#dataVersion = version;
      const names = connection.rows<[string]>(OPEN_QUEUES).all();
      const queues = names.flat();
      if (queues.length > 0) this.arrived({ queues, finished: [] });
    } catch {
      // The database is away for a moment. The next look will tell.
    }
  }
}

class Hints {
  readonly #queues = new Set<string>();
  #finished: string[] = [];
  /** How many jobs were inserted; NaN once something else may have made jobs ready. */
  #added = 0;

  add(queues: readonly string[], finished: readonly string[], added = NaN): void {
    for (const queue of queues) this.#queues.add(queue);
    for (const id of finished) this.#finished.push(id);
    if (queues.length > 0) this.#added += added;
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0 && this.#finished.length === 0;
  }

  take(): Wakeup | null {
    if (this.isEmpty) return null;
    const added = this.#added;
    const wakeup = {
      queues: [...this.#queues],
      finished: this.#finished,
      ...(added > 0 && { added }),
    };
    this.clear();
    return wakeup;
  }

  clear(): void {
    this.#queues.clear();
    this.#finished = [];
    this.#added = 0;
  }
}
