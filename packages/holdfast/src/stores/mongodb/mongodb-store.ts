/**
 * The MongoDB store. Its parts, one idea each: the documents (`schema.ts`), the way to the database
 * (`database.ts`), how a job is changed (`edit.ts`), and a file for each verb, named as in the memory
 * store, which defines what the verbs mean.
 */
import { randomUUID } from "node:crypto";
import { ClosedError, InvalidOptionError, StoreUnavailableError } from "../../core/errors.ts";
import { checkOptions } from "../../core/option-checks.ts";
import type { Store, StoreInfo } from "../../core/store.ts";
import { mostReady } from "../shared/most-ready.ts";
import { Wakeups } from "../shared/wakeups.ts";
import { withDeadline } from "../shared/with-deadline.ts";
import { adopt } from "./adopt.ts";
import { Clock } from "./clock.ts";
import { count, countDead, place } from "./count.ts";
import type { Database } from "./database.ts";
import { disown } from "./disown.ts";
import { find } from "./find.ts";
import { insert } from "./insert.ts";
import { get } from "./job-view.ts";
import { LeaseCall } from "./lease-call.ts";
import { Leases } from "./lease.ts";
import { amend, append, countEntries, read, removeEntries, trim } from "./ledger.ts";
import { lines } from "./lines-page.ts";
import { hold, limit } from "./lines.ts";
import { Listener } from "./listener.ts";
import { storeError } from "./mongodb-error.ts";
import { checkPlace, openDatabase, type MongodbPlace, type OpenDatabase } from "./open-database.ts";
import { cancel, remove, reschedule, revive } from "./operate.ts";
import { clearOutbox, readOutbox } from "./outbox.ts";
import { prune } from "./prune.ts";
import { CapWatch } from "./queue-book.ts";
import { reap } from "./reap.ts";
import { readRecords, scan, swap } from "./records.ts";
import { renew } from "./renew.ts";
import { settle } from "./settle.ts";
import { describe } from "./store-info.ts";
import { Told } from "./told.ts";
import { unpackWholly } from "./packs/unpack.ts";
import { within, type EndWatch } from "./within.ts";

export type MongodbStoreOptions = MongodbPlace & {
  /** What the names of our collections begin with. Default `holdfast_`. */
  readonly prefix?: string;
  /** How long any call may take. Default 10 s. */
  readonly deadlineMs?: number;
  /** How long ids and settled fences of deleted jobs are remembered. Default one hour. */
  readonly remembersMs?: number;
  /** @internal A clock that a test brings; else it is the server's. */
  readonly now?: () => number;
  /** @internal How many finished documents are counted together once. Default 10 000. */
  readonly stretchDocuments?: number;
};

/** A call costs what its round trips and its commit cost: the more it carries the better. */
const BATCH_ITEMS = 1_000;

export function mongodbStore(options: MongodbStoreOptions): Store {
  checkStoreOptions(options);
  const { prefix = "holdfast_", deadlineMs = 10_000, remembersMs = 3_600_000 } = options;
  const clock = new Clock(options.now ?? null);
  const wakeups = new Wakeups();
  const inFlight = new Set<Promise<unknown>>();
  const caps = new CapWatch();
  /** Of callers' transactions that were open when this process last looked. */
  const watches = new Set<EndWatch>();
  let life: Life | null = null;
  let opening: Promise<void> | null = null;
  let closing: Promise<void> | null = null;
  let wasOpen = false;

  async function doOpen(): Promise<void> {
    await closing;
    if (life !== null) return;
    const { stretchDocuments } = options;
    const settings = { prefix, clock, deadlineMs, remembersMs, stretchDocuments };
    const opened = await openDatabase({ ...settings, place: options });
    const listener = new Listener({
      db: opened.db,
      self: randomUUID(),
      wake: opened.wake,
      onMessage: (wakeup) => wakeups.arrived(wakeup),
      onHearingAgain: () => void lookEverywhere(opened.db),
    });
    try {
      await listener.open();
    } catch (error) {
      await opened.release().catch(() => {});
      throw storeError(error);
    }
    life = { ...opened, listener, leases: new Leases() };
    wasOpen = true;
    wakeups.open((wakeup) => listener.say(wakeup));
  }

  /** After a time in which nothing was heard there may be work anywhere. */
  async function lookEverywhere(db: Database): Promise<void> {
    try {
      const queues = await db.find<{ _id: string }>("queues", {}, { projection: { _id: 1 } });
      wakeups.arrived({ queues: queues.map(({ _id }) => _id), finished: [] });
    } catch {
      // Polling finds it.
    }
  }

  async function doClose({ db, listener, release }: Life): Promise<void> {
    await Promise.allSettled(inFlight);
    await db.options.clearing.done();
    await clock.idle();
    await wakeups.close();
    await listener.close();
    await release();
  }

  function openLife(): Life {
    if (life !== null) return life;
    const hint = wasOpen ? "is closed: call open() again" : "is not open: call open() first";
    throw new ClosedError(`the MongoDB store ${hint}`);
  }

  /** Every verb: has a deadline, is waited for by `close`, and throws errors of our own. */
  async function call<T>(work: (db: Database, told: Told, life: Life) => Promise<T>): Promise<T> {
    const current = openLife();
    // What a transaction leaves to be done is begun before anything else sees it.
    for (const watch of watches) watch.look();
    const told = new Told();
    const working = work(current.db, told, current);
    inFlight.add(working);
    const done = (): void => void inFlight.delete(working);
    working.then(done, done);
    try {
      const answer = await withDeadline(working, deadlineMs, () => {
        const message = `MongoDB did not answer within ${deadlineMs} ms`;
        return new StoreUnavailableError(message, { mayHaveHappened: true });
      });
      tell(current.db, told);
      return answer;
    } catch (error) {
      throw storeError(error);
    }
  }

  /** Hints go out afterwards, and nobody waits for them. */
  function tell(db: Database, { queues, added, finished, roomIn, broken }: Told): void {
    if (broken.size > 0) db.options.clearing.begin(unpackWholly(db, broken));
    const most = added > 0 ? added : undefined;
    if (queues.size > 0 || finished.length > 0) wakeups.done(queues, finished, most);
    const others = [...roomIn].filter((queue) => !queues.has(queue));
    if (others.length === 0) return;
    caps.cappedAmong(db, others).then(
      (capped) => {
        if (capped.length > 0) wakeups.done(capped, [], most);
      },
      () => {},
    );
  }

  /** Empty in, empty out, no round trip; but not of a closed store. */
  async function some<Item, T>(
    items: readonly Item[],
    work: (db: Database, told: Told) => Promise<T[]>,
  ): Promise<T[]> {
    openLife();
    return items.length === 0 ? [] : call(work);
  }

  const store: Store = {
    batchItems: BATCH_ITEMS,
    async open() {
      opening ??= doOpen().finally(() => (opening = null));
      await opening;
    },
    async close() {
      await opening?.catch(() => {});
      if (life !== null) {
        const ending = doClose(life);
        life = null;
        closing = ending.finally(() => (closing = null));
      }
      await closing;
    },
    info: (): StoreInfo => describe(life?.facts ?? null, remembersMs),
    // Writes it down, too: another process must not be told less.
    now: () => call(async (db) => (await db.reserve(0)).now),
    onWakeup: (listener) => wakeups.listen(listener),

    insert: (jobs, options) => some(jobs, (db, told) => insert(db, jobs, { ...options, told })),
    adopt: (jobs) => some(jobs, (db, told) => adopt(db, jobs, told)),
    lease(request) {
      const known = new LeaseCall(request);
      const reply = call((db, _, { leases }) => leases.lease(db, known));
      return reply.catch((error: unknown) => known.replyDespite(error));
    },
    renew: (renewals, leaseMs) => some(renewals, (db) => renew(db, renewals, leaseMs)),
    settle: (settlements) =>
      some(settlements, (db, told) => {
        told.added = mostReady(settlements) ?? 0;
        return settle(db, settlements, told);
      }),
    reap: (request) => call((db, told) => reap(db, request, told)),
    disown: (request) => call((db, told) => disown(db, request, told)),

    cancel: (target, why) => call((db, told) => cancel({ db, told }, target, why)),
    revive: (target, how, why) => call((db, told) => revive({ db, told }, target, how, why)),
    reschedule: (target, due) => call((db, told) => reschedule({ db, told }, target, due)),
    remove: (target) => call((db, told) => remove({ db, told }, target)),
    prune: (policies, most) => call((db) => prune(db, policies, most)),

    get: (refs) => some(refs, (db) => get(db, refs)),
    place: (ref) => call((db) => place(db, ref)),
    find: (filter, page) => call((db) => find(db, filter, page)),
    count: () => call((db) => count(db)),
    countDead: (request) => call((db) => countDead(db, request)),

    async hold(changes) {
      openLife();
      if (changes.length > 0) await call((db, told) => hold(db, changes, told));
    },
    async limit(changes) {
      openLife();
      if (changes.length > 0) await call((db, told) => limit(db, changes, told));
      caps.forget();
    },
    lines: (queue, page) => call((db) => lines(db, queue, page)),

    outbox: {
      read: (most) => call((db) => readOutbox(db, most)),
      async clear(ids) {
        openLife();
        if (ids.length > 0) await call((db) => clearOutbox(db, ids));
      },
    },
    ledger: {
      append: (entries) => some(entries, (db) => append(db, entries)),
      read: (filter, page) => call((db) => read(db, filter, page)),
      count: (filter, upTo) => call((db) => countEntries(db, filter, upTo)),
      amend: (amendments) => some(amendments, (db) => amend(db, amendments)),
      trim: (request) => call((db) => trim(db, request)),
      remove: (ids) => call((db) => removeEntries(db, ids)),
    },
    records: {
      read: (keys) => some(keys, (db) => readRecords(db, keys)),
      swap: (swaps) => some(swaps, (db) => swap(db, swaps)),
      scan: (request) => call((db) => scan(db, request)),
    },
  };

  // A standalone server has no transactions, and which one it is, is known once it is open.
  return Object.defineProperty(store, "within", {
    enumerable: true,
    get: () =>
      life?.facts.isReplicaSet === true
        ? (tx: unknown) => {
            const { db, id } = openLife();
            const onEnded = (told: Told): void => tell(db, told);
            const mustBeOpen = (): void => void openLife();
            return within(tx, { ...db.options, id, watches, onEnded, mustBeOpen });
          }
        : undefined,
  });
}

/** What exists only while the store is open. */
interface Life extends OpenDatabase {
  readonly listener: Listener;
  readonly leases: Leases;
}

const OPTIONS = ["url", "db", "prefix", "deadlineMs", "remembersMs", "now", "stretchDocuments"];

function checkStoreOptions(options: MongodbStoreOptions): void {
  checkOptions("mongodbStore", options, OPTIONS);
  checkPlace(options);
  const { prefix, deadlineMs, remembersMs } = options;
  if (prefix !== undefined && !/^[A-Za-z0-9_-]{0,60}$/.test(prefix)) {
    throw new InvalidOptionError("prefix takes letters, digits, - and _");
  }
  for (const [name, ms] of Object.entries({ deadlineMs, remembersMs })) {
    if (ms !== undefined && !(Number.isFinite(ms) && ms > 0)) {
      throw new InvalidOptionError(`${name} takes milliseconds, more than 0`);
    }
  }
}
