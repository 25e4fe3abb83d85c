/**
 * The SQLite store: the embedded default. Its parts, one idea each: the tables (`schema.ts`), the
 * batching of writes (`committer.ts`), one write transaction (`transaction.ts`), and a file for each
 * verb, named as in the memory store, which defines what the verbs mean.
 *
 * Reads run on the same connection: every transaction of ours ends in the turn of the event loop it
 * began in, so a read never finds one half done.
 */
import { realpathSync } from "node:fs";
import { ClosedError, InvalidOptionError } from "../../core/errors.ts";
import { checkFunction, checkOptions } from "../../core/option-checks.ts";
import { checkQueueViews, type QueueViews } from "../../core/queue-views.ts";
import { Shares } from "../../core/shares.ts";
import type { Changes, Settlement, Store, StoreInfo, Target } from "../../core/store.ts";
import { adopt } from "./adopt.ts";
import { Checkpoints } from "./checkpoints.ts";
import { Clock, msOf } from "./clock.ts";
import { Committer, type Upkeep } from "./committer.ts";
import type { Connection } from "./connection.ts";
import { countDead } from "./count-dead.ts";
import { count, place, queuesWithDue } from "./count.ts";
import { isDatabaseLike, type DatabaseLike } from "./database-like.ts";
import { disown } from "./disown.ts";
import { find, get } from "./find.ts";
import { insert } from "./insert.ts";
import { lease, peek } from "./lease.ts";
import { amend, append, countEntries, read, removeEntries, trim } from "./ledger.ts";
import { readMark } from "./known.ts";
import { lines } from "./lines-page.ts";
import { hold, limit } from "./lines.ts";
import { openDatabase } from "./open-database.ts";
import { cancel, remove, reschedule, revive } from "./operate.ts";
import { clearOutbox, readOutbox } from "./outbox.ts";
import { retryWhileBusy } from "./retry-while-busy.ts";
import { isPruneDue, prune } from "./prune.ts";
import { isSweepDue, sweep } from "./sweep.ts";
import { isReapDue, reap } from "./reap.ts";
import { shownViews } from "./queue-views.ts";
import { readRecords, scan, swap } from "./records.ts";
import { renew } from "./renew.ts";
import { settle } from "./settle.ts";
import { isBusy, storeError } from "./sqlite-error.ts";
import { moveDue } from "./placement.ts";
import { describe } from "./store-info.ts";
import type { Transaction } from "./transaction.ts";
import { WakeSocket } from "./wake-socket.ts";
import { Wakeups } from "./wakeup.ts";
import { within } from "./within.ts";

export type SqliteStoreOptions = SqlitePlace & {
  /**
   * `full` (default for a file): what was acknowledged survives power loss. `normal`: it survives the
   * death of the process; the last moments before a power loss may be lost, never the file.
   */
  readonly synchronous?: "full" | "normal";
  /** How long a write waits for another connection's transaction. Default 10 s. */
  readonly busyDeadlineMs?: number;
  /** How long ids and settled fences of deleted jobs are remembered. Default one hour. */
  readonly remembersMs?: number;
  /** The host's clock in milliseconds; a test brings its own. Default `Date.now`. */
  readonly now?: () => number;
  /** Queues that are shown as tables in the file, for people who read with SQL. */
  readonly views?: QueueViews;
};

export type SqlitePlace =
  /** A path, made if it is not there, or `:memory:`. */
  | { readonly file: string }
  /**
   * The caller's own connection, `node:sqlite` or better-sqlite3. Its settings stay as they are (WAL
   * mode is the caller's to choose), and it stays open when the store is closed.
   */
  | { readonly database: DatabaseLike };

/** More would keep the event loop for longer than the few milliseconds of these. */
const BATCH_ITEMS = 500;
/** A lease of many jobs is a few statements, so it may ride with a full batch of settles. */
const LEASES_PER_WRITE = 4;
/** Moved into their lines before a look at them, at most. */
const MOVE_DUE_AT_MOST = 1_000;

export function sqliteStore(options: SqliteStoreOptions): Store {
  checkStoreOptions(options);
  const { busyDeadlineMs = 10_000, remembersMs = 3_600_000, now = Date.now } = options;
  const settings = { clock: new Clock(now), remembersMs };
  const shares = new Shares();
  const wakeups = new Wakeups();
  let life: Life | null = null;
  let opening: Promise<void> | null = null;
  let closing: Promise<void> | null = null;
  let wasOpen = false;
  let isToClose = false;
  const views = checkQueueViews(options.views);
  let viewWarnings: readonly string[] = [];

  async function doOpen(): Promise<void> {
    await closing;
    if (life !== null) return;
    const { synchronous } = options;
    const connection = await openDatabase({
      ...settings,
      place: options,
      synchronous,
      busyDeadlineMs,
      isGivenUp: () => isToClose,
    });
    const path = connection.path();
    const socket =
      path === null
        ? null
        : new WakeSocket({
            file: path,
            onWakeup: (wakeup) => wakeups.arrived(wakeup),
            onPeerWaits: () => committer.peerWaits(),
          });
    const checkpoints = new Checkpoints(connection);
    const committer = new Committer({
      ...settings,
      connection,
      busyDeadlineMs,
      onCommit: (tx) => {
        checkpoints.committed();
        const { queues, added } = tx.hints();
        wakeups.committed(queues, tx.finishedJobs, added);
      },
      onBusy: () => socket?.tellWaiting(),
    });
    await socket?.open();
    const realPath = path === null ? null : realpathSync(path);
    life = { connection, committer, socket, checkpoints, path: realPath };
    wasOpen = true;
    wakeups.open(connection, socket);
    viewWarnings = await shownViews(connection, views, (work) => write(1, (tx) => work(tx.db)));
  }

  async function doClose({ connection, committer, socket, checkpoints }: Life): Promise<void> {
    await committer.close();
    wakeups.close();
    socket?.close();
    checkpoints.close();
    if (!connection.isBorrowed) connection.database.close();
  }

  function openLife(): Life {
    if (life !== null) return life;
    const hint = wasOpen ? "is closed: call open() again" : "is not open: call open() first";
    throw new ClosedError(`the SQLite store ${hint}`);
  }

  /** A verb that writes; it takes its turn with all others. `size` is about how many jobs it touches. */
  async function write<T>(
    size: number,
    work: (tx: Transaction) => T,
    upkeep?: Upkeep<T>,
  ): Promise<T> {
    const flushed = (tx: Transaction): T => {
      tx.fresh.flush();
      return work(tx);
    };
    return submit(size, flushed, upkeep);
  }

  /**
   * `insert` and `lease`: what was inserted need not stand in line before a lease takes it. Not async,
   * and awaited by its callers: a promise inside a promise is answered three turns later, and a job
   * starts that much later after its commit.
   */
  function submit<T>(size: number, work: (tx: Transaction) => T, upkeep?: Upkeep<T>): Promise<T> {
    return openLife().committer.submit(size, work, upkeep);
  }

  /** Empty in, empty out, no transaction. */
  async function writeEach<T>(
    items: readonly unknown[],
    work: (tx: Transaction) => T[],
  ): Promise<T[]> {
    openLife();
    return items.length === 0 ? [] : write(items.length, work);
  }

  async function writeAll(
    items: readonly unknown[],
    work: (tx: Transaction) => void,
  ): Promise<void> {
    openLife();
    if (items.length > 0) await write(items.length, work);
  }

  async function change(target: Target, work: (tx: Transaction) => Changes): Promise<Changes> {
    openLife();
    const reach = "ids" in target ? target.ids.length : target.limit;
    // A step of a filter goes through even if it changes nothing: its cursor must be checked.
    if ("ids" in target && reach === 0) return { changes: [], nextCursor: null };
    return write(reach, work);
  }

  /** A verb that looks. Outside WAL mode, or while a log is recovered, even that may have to wait. */
  async function look<T>(reads: (db: Connection, now: number) => T): Promise<T> {
    const work = (db: Connection, now: number) => db.inOneMoment(() => reads(db, now));
    return lookNow(work, () => retryWhileBusy(busyDeadlineMs, () => lookNow(work)));
  }

  /** At once, so that calls take effect in the order they are made. */
  function lookNow<T, Busy = never>(
    work: (db: Connection, now: number) => T,
    ifBusy?: () => Busy,
  ): T | Busy {
    const { connection } = openLife();
    try {
      return work(connection, clockOf(connection));
    } catch (error) {
      if (!isBusy(error)) throw storeError(error, { mayHaveHappened: false });
      if (ifBusy === undefined) throw error;
      return ifBusy();
    }
  }

  /** Upkeep, which writes only if a look says so: an idle worker must not keep writing. */
  async function writeIf<T>(
    isDue: (db: Connection, now: number) => boolean,
    { size, otherwise, work }: { size: number; otherwise: T; work: (tx: Transaction) => T },
  ): Promise<T> {
    return lookNow(isDue, () => true) ? write(size, work, { otherwise }) : otherwise;
  }

  function clockOf(connection: Connection): number {
    return msOf(settings.clock.micros(readMark(connection)));
  }

  return {
    batchItems: BATCH_ITEMS,
    async open() {
      if (opening === null) isToClose = false;
      opening ??= doOpen().finally(() => (opening = null));
      await opening;
    },
    async close() {
      isToClose = true;
      await opening?.catch(() => {});
      if (life !== null) {
        const ending = doClose(life);
        life = null;
        closing = ending.finally(() => (closing = null));
      }
      await closing;
    },
    info: (): StoreInfo => ({
      ...describe(life?.connection ?? null, { ...options, remembersMs }),
      ...(viewWarnings.length > 0 && { warnings: viewWarnings }),
    }),
    now: () => look((_, at) => at),
    onWakeup: (listener) => wakeups.listen(listener),

    async insert(jobs, how) {
      openLife();
      if (jobs.length === 0) return [];
      const stored = submit(jobs.length, (tx) => insert(tx, jobs, how));
      for (const { queue, delayMs, runAt } of jobs) {
        if (delayMs <= 0 && runAt === null) wakeups.expected(queue);
      }
      return await stored;
    },
    adopt: (jobs) => writeEach(jobs, (tx) => adopt(tx, jobs)),
    async lease(request) {
      // With other writes waiting, the lease joins their transaction instead of looking first.
      if (openLife().committer.isIdle || request.limit <= 0) {
        const nothing = lookNow(
          (db, at) => peek(db, request, at),
          () => null,
        );
        if (nothing !== null) return nothing;
      }
      const size = request.limit / LEASES_PER_WRITE;
      return await submit(size, (tx) => lease(tx, request, shares));
    },
    renew: (renewals, leaseMs) => writeEach(renewals, (tx) => renew(tx, renewals, leaseMs)),
    async settle(settlements) {
      openLife();
      if (settlements.length === 0) return [];
      return write(sizeOf(settlements), (tx) => settle(tx, settlements));
    },
    reap: (request) =>
      writeIf(isReapDue, { size: request.limit, otherwise: [], work: (tx) => reap(tx, request) }),
    // Nobody knows how many jobs it will be; mostly it is what one lost reply carried.
    disown: async (request) => write(BATCH_ITEMS, (tx) => disown(tx, request)),

    cancel: (target, why) => change(target, (tx) => cancel(tx, target, why)),
    revive: (target, how, why) => change(target, (tx) => revive(tx, target, how, why)),
    reschedule: (target, due, why) => change(target, (tx) => reschedule(tx, target, due, why)),
    remove: (target, why) => change(target, (tx) => remove(tx, target, why)),
    async prune(policies, most) {
      const pruned = await writeIf((db, at) => isPruneDue(db, policies, at), {
        ...{ size: most, otherwise: 0 },
        work: (tx) => prune(tx, policies, most),
      });
      const step = { size: BATCH_ITEMS, otherwise: false, work: sweep };
      // What was pruned is told, also if the store was closed meanwhile.
      while (life !== null && (await writeIf(isSweepDue, step)));
      return pruned;
    },

    get: (refs) => look((db, at) => get(db, refs, at)),
    place: (ref) => look((db, at) => place(db, ref, at)),
    find: (filter, page) => look((db, at) => find(db, filter, { page, now: at })),
    count: () => look((db, at) => count(db, at)),
    countDead: (request) => look((db) => countDead(db, request)),

    hold: (changes) => writeAll(changes, (tx) => hold(tx, changes)),
    limit: (changes) => writeAll(changes, (tx) => limit(tx, changes)),
    async lines(queue, page) {
      // A line may exist only once its due jobs are moved into it.
      await writeIf((db, at) => queuesWithDue(db, at).includes(queue), {
        ...{ size: MOVE_DUE_AT_MOST, otherwise: 0 },
        work: (tx) => moveDue(tx, tx.queues.findOrAdd(queue), MOVE_DUE_AT_MOST),
      });
      return look((db, at) => lines(db, queue, { page, now: at }));
    },

    outbox: {
      read: (most) => look((db) => readOutbox(db, most)),
      clear: (ids) => writeAll(ids, (tx) => clearOutbox(tx, ids)),
    },
    ledger: {
      append: (entries) => writeEach(entries, (tx) => append(tx, entries)),
      read: (filter, page) => look((db) => read(db, filter, page)),
      count: (filter, upTo) => look((db) => countEntries(db, filter, upTo)),
      amend: (amendments) => writeEach(amendments, (tx) => amend(tx, amendments)),
      trim: async (request) => write(request.limit, (tx) => trim(tx, request), { otherwise: 0 }),
      remove: async (ids) => write(ids.length, (tx) => removeEntries(tx, ids), { otherwise: 0 }),
    },
    records: {
      read: (keys) => look((db, at) => readRecords(db, keys, at)),
      swap: (swaps) => writeEach(swaps, (tx) => swap(tx, swaps)),
      scan: (request) => look((db, at) => scan(db, request, at)),
    },

    within(tx) {
      const { connection, path } = openLife();
      return within(tx, {
        ...settings,
        own: connection,
        path,
        realPath: realpathSync,
        onEnded: (queues, finished, added) => wakeups.committed(queues, finished, added),
        mustBeOpen: () => void openLife(),
      });
    },
  };
}

/** What exists only while the store is open. */
interface Life {
  readonly connection: Connection;
  readonly committer: Committer;
  readonly socket: WakeSocket | null;
  readonly checkpoints: Checkpoints;
  /** Real path of the file; null in memory. */
  readonly path: string | null;
}

function sizeOf(settlements: readonly Settlement[]): number {
  return settlements.reduce((sum, { spawn }) => sum + 1 + (spawn?.length ?? 0), 0);
}

const OPTIONS = [
  "file",
  "database",
  "synchronous",
  "busyDeadlineMs",
  "remembersMs",
  "now",
  "views",
];

function checkStoreOptions(options: SqliteStoreOptions): void {
  checkOptions("sqliteStore", options, OPTIONS);
  if (options.now !== undefined) checkFunction("now", options.now);
  const { synchronous, busyDeadlineMs, remembersMs } = options;
  const { file, database }: { file?: unknown; database?: unknown } = options;
  if (database === undefined ? !isPath(file) : file !== undefined || !isDatabaseLike(database)) {
    throw new InvalidOptionError(
      "sqliteStore takes { file } with a path, or { database } with an open SQLite connection",
    );
  }
  if (synchronous !== undefined && synchronous !== "full" && synchronous !== "normal") {
    throw new InvalidOptionError('synchronous is "full" or "normal"');
  }
  for (const [name, ms] of Object.entries({ busyDeadlineMs, remembersMs })) {
    if (ms !== undefined && !(Number.isFinite(ms) && ms >= 0)) {
      throw new InvalidOptionError(`${name} takes milliseconds, 0 or more`);
    }
  }
}

function isPath(file: unknown): boolean {
  return typeof file === "string" && file !== "" && !file.includes("\0");
}
