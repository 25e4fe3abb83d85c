/**
 * The PostgreSQL store. Its parts, one idea each: the tables (`schema.ts`), the way to the database
 * (`database.ts`), one transaction of several statements (`transaction.ts`), and a file for each verb,
 * named as in the memory store, which defines what the verbs mean. The verbs that every job passes
 * through are functions inside the database (`*-function.ts`): one round trip each, and no lock is
 * held while the network is slow.
 */
import { randomUUID } from "node:crypto";
import { ClosedError, InvalidOptionError } from "../../core/errors.ts";
import { checkOptions } from "../../core/option-checks.ts";
import { checkQueueViews, type QueueViews } from "../../core/queue-views.ts";
import type { Settlement, SettleResult, Store, StoreInfo } from "../../core/store.ts";
import { heardBy } from "../shared/wakeup-message.ts";
import { mostReady } from "../shared/most-ready.ts";
import { Wakeups } from "../shared/wakeups.ts";
import { adopt } from "./adopt.ts";
import { awaitLeases, setsCap } from "./await-leases.ts";
import type { OperateOptions } from "./change-each.ts";
import { Clock, clockUs, msOf } from "./clock.ts";
import { countDead } from "./count-dead.ts";
import { count, place } from "./count.ts";
import type { Database } from "./database.ts";
import { disown } from "./disown.ts";
import { find } from "./find.ts";
import { hasRepeats, insert, insertAlone } from "./insert.ts";
import { get } from "./job-view.ts";
import { Leases } from "./lease.ts";
import { amend, append, countEntries, read, removeEntries, trim } from "./ledger.ts";
import { lines } from "./lines-page.ts";
import { hold, limit } from "./lines.ts";
import { Listener } from "./listener.ts";
import {
  checkPlace,
  openDatabase,
  type OpenDatabase,
  type PostgresPlace,
} from "./open-database.ts";
import { notifyPayloads } from "./notify-payloads.ts";
import { cancel, remove, reschedule, revive } from "./operate.ts";
import { clearOutbox, readOutbox } from "./outbox.ts";
import { prune, PruneTurn } from "./prune.ts";
import { QueueBook } from "./queue-book.ts";
import { reap } from "./reap.ts";
import { showQueueViews } from "./queue-views.ts";
import { readRecords, scan, swap } from "./records.ts";
import { renew } from "./renew.ts";
import { number } from "./row-values.ts";
import { isSchemaName, SchemaName } from "./schema-name.ts";
import { settleApart } from "./settle-apart.ts";
import { settlePlainly } from "./settle-plainly.ts";
import { settle } from "./settle.ts";
import { describe } from "./store-info.ts";
import type { Transaction } from "./transaction.ts";
import { Upkeep } from "./upkeep.ts";
import { within } from "./within.ts";

export type PostgresStoreOptions = PostgresPlace & {
  /** Where the tables are; made if it is not there. Default `holdfast`. */
  readonly schema?: string;
  /**
   * What stands between us and the server. `transaction`: a pooler that gives every transaction
   * another connection, such as pgbouncer in that mode; then nothing is prepared, and this process
   * hears of other processes' jobs by polling only. Default `session`: nothing, or one that does not.
   */
  readonly pooler?: "session" | "transaction";
  /** How long any call may take. Default 10 s. */
  readonly deadlineMs?: number;
  /** How long ids and settled fences of deleted jobs are remembered. Default one hour. */
  readonly remembersMs?: number;
  /**
   * Shows the views `job_failures` and `job_idempotency_locks` in this schema as well, for example
   * `"public"`. What has one of these names there already stays as it is.
   */
  readonly viewsIn?: string;
  /** Queues that are shown as tables in our schema, for people who read with SQL. */
  readonly views?: QueueViews;
};

const NOW = `SELECT ${clockUs("$1::bigint")}`;
const NOTIFY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";
const QUEUES = "SELECT name FROM holdfast.queue";

/** A call costs what its round trip, its set-up and its commit cost: the more it carries the better. */
const BATCH_ITEMS = 1_000;

export function postgresStore(options: PostgresStoreOptions): Store {
  checkStoreOptions(options);
  const { pooler = "session", deadlineMs = 10_000, remembersMs = 3_600_000 } = options;
  const schema = new SchemaName(options.schema ?? "holdfast");
  const clock = new Clock();
  const isDirect = pooler === "session";
  const self = randomUUID();
  const wakeups = new Wakeups();
  let life: Life | null = null;
  let opening: Promise<void> | null = null;
  let closing: Promise<void> | null = null;
  let wasOpen = false;
  const views = checkQueueViews(options.views);
  let viewWarnings: readonly string[] = [];

  async function doOpen(): Promise<void> {
    await closing;
    if (life !== null) return;
    const viewsIn = options.viewsIn ?? null;
    const settings = { schema, clock, deadlineMs, remembersMs, prepares: isDirect, viewsIn };
    const opened = await openDatabase({ ...settings, place: options });
    const { db, pool } = opened;
    if (views.length > 0) {
      const shown = db.session((session) => showQueueViews(session, schema, views));
      // A view that cannot be made is no reason not to work.
      viewWarnings = await shown.catch((error: unknown) => [`no view was made: ${String(error)}`]);
    }
    const canListen = isDirect && Listener.canListen(pool);
    const listener = canListen
      ? new Listener({
          pool,
          channel: schema.channel,
          onMessage: hear,
          onListening: () => void lookEverywhere(db),
        })
      : null;
    await listener?.open();
    const queues = new QueueBook(db);
    life = {
      ...opened,
      listener,
      queues,
      leases: new Leases(),
      upkeep: new Upkeep(db),
      pruneTurn: new PruneTurn(),
    };
    wasOpen = true;
    wakeups.open(async (wakeup) => {
      for (const payload of notifyPayloads(self, wakeup)) {
        await db.rows(NOTIFY, [schema.channel, payload]);
      }
    });
  }

  function hear(payload: string): void {
    const wakeup = heardBy(self, payload);
    if (wakeup !== null) wakeups.arrived(wakeup);
  }

  /** After a time without ears there may be work anywhere. */
  async function lookEverywhere(db: Database): Promise<void> {
    try {
      const rows = await db.rows(QUEUES);
      wakeups.arrived({ queues: rows.flatMap(([name]) => name ?? []), finished: [] });
    } catch {
      // Polling finds it.
    }
  }

  async function doClose({ db, release, listener }: Life): Promise<void> {
    await db.idle();
    await wakeups.close();
    listener?.close();
    await db.idle();
    await release();
  }

  function openLife(): Life {
    if (life !== null) return life;
    const hint = wasOpen ? "is closed: call open() again" : "is not open: call open() first";
    throw new ClosedError(`the PostgreSQL store ${hint}`);
  }

  /** Hints go out after the commit, and nobody waits for them. */
  function owe(queues: QueueBook, { woken, finished = [], added }: Owed): void {
    const numbers = [...woken];
    if (numbers.length === 0 && finished.length === 0) return;
    queues.names(numbers).then(
      (names) => wakeups.done(names.values(), finished, added),
      () => {},
    );
  }

  async function write<T>(
    work: (tx: Transaction, life: Life) => Promise<T>,
    added?: number,
  ): Promise<T> {
    const now = openLife();
    const { answer, tx } = await now.db.transaction(async (inner) => ({
      answer: await work(inner, now),
      tx: inner,
    }));
    const { woken, finished } = tx;
    owe(now.queues, { woken, finished, added });
    return answer;
  }

  async function operate<T extends Owed>(verb: (how: OperateOptions) => Promise<T>) {
    const { db, queues } = openLife();
    const { woken, finished = [], ...changes } = await verb({ db, queues, clock });
    owe(queues, { woken, finished });
    return changes;
  }

  async function settleAll(settlements: readonly Settlement[]): Promise<SettleResult[]> {
    const { db, queues } = openLife();
    const how = { clock, remembersMs, isLate: false };
    const plain = await settlePlainly(db, settlements, how);
    const { rest } = plain;
    const added = mostReady(settlements);
    owe(queues, { woken: plain.woken, finished: plain.settled, added });
    if (rest.length === 0) return plain.resultsWith([]);
    const spawned = rest.flatMap(({ spawn = [] }) => spawn.map(({ queue }) => queue));
    const numbers = await queues.findOrAdd(spawned);
    const settleSome = async (some: readonly Settlement[]): Promise<SettleResult[]> =>
      write((tx) => settle(tx, some, { clock, queues: numbers }), mostReady(some));
    return plain.resultsWith(await settleApart(rest, settleSome));
  }

  return {
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
    info(): StoreInfo {
      const listens = life === null ? isDirect : life.listener !== null;
      const info = describe(life?.facts ?? null, { remembersMs, listens });
      return viewWarnings.length === 0
        ? info
        : { ...info, warnings: [...(info.warnings ?? []), ...viewWarnings] };
    },
    async now() {
      const [row] = await openLife().db.rows(NOW, [clock.seen]);
      clock.saw(row === undefined ? 0 : number(row, 0));
      return msOf(clock.seen);
    },
    onWakeup: (listener) => wakeups.listen(listener),

    async insert(jobs, { evenIfFull = false } = {}) {
      const { db, queues } = openLife();
      if (jobs.length === 0) return [];
      const numbers = await queues.findOrAdd(jobs.map(({ queue }) => queue));
      const how = { clock, queues: numbers, evenIfFull, isLate: false };
      if (hasRepeats(jobs)) return write((tx) => insert(tx, jobs, how));
      const { results, woken, ready } = await insertAlone(db, jobs, how);
      owe(queues, { woken, added: ready });
      return results;
    },
    async adopt(jobs) {
      const { queues } = openLife();
      if (jobs.length === 0) return [];
      const numbers = await queues.findOrAdd(jobs.map(({ queue }) => queue));
      return write((tx) => adopt(tx, jobs, { clock, queues: numbers }));
    },
    async lease(request) {
      const { db, queues, leases } = openLife();
      return leases.lease(db, request, { queues, clock });
    },
    async renew(renewals, leaseMs) {
      const { db } = openLife();
      return renewals.length === 0 ? [] : db.during(renew(db, renewals, leaseMs));
    },
    async settle(settlements) {
      openLife();
      return settlements.length === 0 ? [] : settleAll(settlements);
    },
    async reap(request) {
      const { upkeep } = openLife();
      return (await operate((how) => reap(how, request, upkeep))).jobs;
    },
    disown: async (request) => (await operate((how) => disown(how, request))).jobs.length,

    cancel: async (target, why) => operate((how) => cancel(how, target, why)),
    revive: async (target, revival, why) => operate((how) => revive(how, target, revival, why)),
    reschedule: async (target, due, why) => operate((how) => reschedule(how, target, due, why)),
    remove: async (target, why) => operate((how) => remove(how, target, why)),
    prune: async (policies, most) => prune(openLife(), policies, most),

    get: async (refs) => get(openLife().db, refs, clock),
    place: async (ref) => place(openLife().db, ref, clock),
    async find(filter, page) {
      const { db, queues } = openLife();
      return find({ db, queues, clock }, filter, page);
    },
    count: async () => count(openLife().db, clock),
    countDead: async (request) => countDead(openLife(), request),

    async hold(changes) {
      const { queues } = openLife();
      if (changes.length === 0) return;
      const held = changes.filter((change) => change.hold !== null);
      await queues.findOrAdd(held.map(({ queue }) => queue));
      const numbers = await queues.findAll(changes.map(({ queue }) => queue));
      await write((tx) => hold(tx, changes, numbers));
    },
    async limit(changes) {
      const { db, queues } = openLife();
      if (changes.length === 0) return;
      const numbers = await queues.findOrAdd(changes.map(({ queue }) => queue));
      await write((tx) => limit(tx, changes, numbers));
      if (changes.some(setsCap)) await db.during(awaitLeases(db));
    },
    lines: async (queue, page) => lines(openLife(), queue, page),

    outbox: {
      read: async (most) => readOutbox(openLife().db, most),
      async clear(ids) {
        const { db } = openLife();
        if (ids.length > 0) await clearOutbox(db, ids);
      },
    },
    ledger: {
      async append(entries) {
        openLife();
        return entries.length === 0 ? [] : write((tx) => append(tx, entries));
      },
      read: async (filter, page) => read(openLife().db, filter, page),
      async amend(amendments) {
        openLife();
        return amendments.length === 0 ? [] : write((tx) => amend(tx, amendments));
      },
      count: async (filter, upTo) => countEntries(openLife().db, filter, upTo),
      trim: async (request) => write((tx) => trim(tx, request)),
      async remove(ids) {
        openLife();
        return ids.length === 0 ? 0 : write((tx) => removeEntries(tx, ids));
      },
    },
    records: {
      async read(keys) {
        const { db } = openLife();
        return keys.length === 0 ? [] : readRecords(db, keys, clock);
      },
      async swap(swaps) {
        const { db } = openLife();
        return swaps.length === 0 ? [] : swap(db, swaps, clock);
      },
      scan: async (request) => scan(openLife().db, request, clock),
    },

    within(tx) {
      const { db, facts, queues } = openLife();
      return within(tx, {
        ...db.options,
        queues,
        id: facts.id,
        onEnded: (owed) => owe(queues, owed),
        mustBeOpen: () => void openLife(),
      });
    },
  };
}

/** What others are to be told of. */
interface Owed {
  /** Queues that may have ready jobs, by number. */
  readonly woken: Iterable<number>;
  readonly finished?: readonly string[];
  /** So many jobs became ready at most. Absent: any number. */
  readonly added?: number | undefined;
}

/** What exists only while the store is open. */
interface Life extends OpenDatabase {
  readonly listener: Listener | null;
  readonly queues: QueueBook;
  readonly leases: Leases;
  readonly upkeep: Upkeep;
  readonly pruneTurn: PruneTurn;
}

const OPTIONS = [
  ...["url", "pool", "schema", "pooler", "deadlineMs", "remembersMs", "viewsIn"],
  "views",
];

function checkStoreOptions(options: PostgresStoreOptions): void {
  checkOptions("postgresStore", options, OPTIONS);
  checkPlace(options);
  const { pooler, deadlineMs, remembersMs, viewsIn } = options;
  if (viewsIn !== undefined && !isSchemaName(viewsIn)) {
    throw new InvalidOptionError('viewsIn is the name of a schema: for example "public"');
  }
  if (pooler !== undefined && pooler !== "session" && pooler !== "transaction") {
    throw new InvalidOptionError('pooler must be "session" or "transaction"');
  }
  for (const [name, ms] of Object.entries({ deadlineMs, remembersMs })) {
    if (ms !== undefined && !(Number.isFinite(ms) && ms > 0)) {
      throw new InvalidOptionError(`${name} must be a number of milliseconds above 0`);
    }
  }
}
