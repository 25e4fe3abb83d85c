/**
 * The Redis store. Its parts, one idea each: the scripts (`lua/`, each verb that writes is one step on
 * the server), the names of keys (`keys.ts`), the way to the server (`server.ts`), and a file for each
 * verb, named as in the memory store, which defines what the verbs mean.
 */
import { randomUUID } from "node:crypto";
import { ClosedError, InvalidOptionError } from "../../core/errors.ts";
import { checkOptions } from "../../core/option-checks.ts";
import type { Store } from "../../core/store.ts";
import { heardBy, messageOf } from "../shared/wakeup-message.ts";
import { mostReady } from "../shared/most-ready.ts";
import { Wakeups } from "../shared/wakeups.ts";
import { adopt } from "./adopt.ts";
import { BATCH_ITEMS } from "./batch-items.ts";
import { countDead } from "./count-dead.ts";
import { count, place } from "./count.ts";
import { disown } from "./disown.ts";
import { find } from "./find.ts";
import { Handovers } from "./handovers.ts";
import { insert, type InsertHow } from "./insert.ts";
import { get } from "./job-view.ts";
import { Keys } from "./keys.ts";
import { Leases } from "./lease.ts";
import { removeEntries, trim } from "./ledger-trim.ts";
import { amend, append, countEntries, read } from "./ledger.ts";
import { lines } from "./lines-page.ts";
import { hold, limit } from "./lines.ts";
import { Listener } from "./listener.ts";
import { checkPlace, openServer, type OpenServer, type RedisPlace } from "./open-server.ts";
import { cancel, remove, reschedule, revive } from "./operate.ts";
import { clearOutbox, readOutbox } from "./outbox.ts";
import { prune } from "./prune.ts";
import { QueueBook } from "./queue-book.ts";
import { Reaps } from "./reap.ts";
import { readRecords, scan, swap } from "./records.ts";
import { renew } from "./renew.ts";
import { number } from "./reply.ts";
import { openSchema } from "./schema.ts";
import { askFacts, type ServerFacts } from "./server-facts.ts";
import type { WaitOptions } from "./server.ts";
import { settle } from "./settle.ts";
import { describe, type RedisStoreInfo } from "./store-info.ts";
import { Touched } from "./touched.ts";

export type RedisStoreOptions = RedisPlace & {
  /** What all keys begin with. Default `hf`. */
  readonly prefix?: string;
  /**
   * Acknowledge a change only when so many replicas have it; else the call fails and may have
   * happened. It narrows what a failover loses, and does not close the gap. Not on a cluster.
   */
  readonly wait?: WaitOptions;
  /** How long any call may take. Default 10 s. */
  readonly deadlineMs?: number;
  /** How long ids and settled fences of deleted jobs are remembered. Default one hour. */
  readonly remembersMs?: number;
  /** @internal The clock in milliseconds; a test brings its own. Default the server's. */
  readonly now?: () => number;
};

export interface RedisStore extends Store {
  info(): RedisStoreInfo;
}

/** One connection brings them in their order. While the server works on one, this process makes the next. */
const INSERTS_AT_ONCE = 2;

export function redisStore(options: RedisStoreOptions): RedisStore {
  checkStoreOptions(options);
  const { prefix = "hf", deadlineMs = 10_000, remembersMs = 3_600_000 } = options;
  const keys = new Keys(prefix);
  const self = randomUUID();
  const wakeups = new Wakeups();
  let life: Life | null = null;
  let opening: Promise<void> | null = null;
  let closing: Promise<void> | null = null;
  let wasOpen = false;

  async function doOpen(): Promise<void> {
    await closing;
    if (life !== null) return;
    const { wait = null, now = null } = options;
    const onReplica = (): void => life?.listener.renew();
    const settings = { keys, deadlineMs, wait, now, onReplica };
    const opened = await openServer({ place: options, ...settings });
    const { server, client } = opened;
    const queues = new QueueBook(server);
    const listener = new Listener({
      client,
      channel: keys.channel,
      onMessage: hear,
      onListening: () => void lookEverywhere(queues),
    });
    try {
      await openSchema(server, queues);
      await listener.open();
    } catch (error) {
      listener.close();
      opened.release();
      throw error;
    }
    const handovers = new Handovers(server);
    life = { ...opened, queues, listener, handovers, leases: new Leases(), reaps: new Reaps() };
    wasOpen = true;
    wakeups.open(async (wakeup) => {
      await server.command("PUBLISH", keys.channel, messageOf(self, wakeup));
    });
  }

  function hear(message: string): void {
    const wakeup = heardBy(self, message);
    if (wakeup !== null) wakeups.arrived(wakeup);
  }

  /** After a time without ears there may be work anywhere. */
  async function lookEverywhere(queues: QueueBook): Promise<void> {
    try {
      wakeups.arrived({ queues: await queues.all(), finished: [] });
    } catch {
      // Polling finds it.
    }
  }

  async function doClose({ server, listener, release }: Life): Promise<void> {
    await server.idle();
    await wakeups.close();
    listener.close();
    await server.idle();
    release();
  }

  function openLife(): Life {
    if (life !== null) return life;
    const hint = wasOpen ? "is closed: call open() again" : "is not open: call open() first";
    throw new ClosedError(`the Redis store ${hint}`);
  }

  /** Hints go out after the call, and nobody waits for them. */
  async function write<T>(work: (how: InsertHow, life: Life) => Promise<T>): Promise<T> {
    const now = openLife();
    const touched = new Touched();
    try {
      return await work({ server: now.server, queues: now.queues, touched }, now);
    } finally {
      const { woken, finished, added, expected } = touched;
      wakeups.done(woken, finished, added, expected);
    }
  }

  return {
    batchItems: BATCH_ITEMS,
    insertsAtOnce: INSERTS_AT_ONCE,
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
    info() {
      const isCluster = life?.server.isCluster ?? false;
      return describe(life?.facts ?? null, { remembersMs, isCluster });
    },
    async now() {
      const { server } = openLife();
      return Math.floor(number(await server.onRoot("now", keys.home, [])) / 1_000);
    },
    onWakeup: (listener) => wakeups.listen(listener),

    insert: async (jobs, { evenIfFull = false } = {}) =>
      write(async (how, { handovers }) => {
        if (jobs.length === 0) return [];
        const due = new Set<string>();
        for (const { queue, delayMs, runAt } of jobs) {
          if (delayMs <= 0 && runAt === null) due.add(queue);
        }
        const announce = (): void => wakeups.expected([...due]);
        // In a cluster a call may be sent elsewhere on its way, and the next one overtake it.
        if (!how.server.isCluster) how.touched.expected = due;
        return insert({ ...how, handovers, announce }, jobs, evenIfFull);
      }),
    adopt: async (jobs) => write(async (how) => (jobs.length === 0 ? [] : adopt(how, jobs))),
    async lease(request) {
      const { handovers, leases } = openLife();
      return leases.lease(handovers, request);
    },
    async renew(renewals, leaseMs) {
      const { server } = openLife();
      return renewals.length === 0 ? [] : renew(server, renewals, leaseMs);
    },
    settle: async (settlements) =>
      write(async (how) => {
        how.touched.added = mostReady(settlements);
        return settlements.length === 0 ? [] : settle({ ...how, remembersMs }, settlements);
      }),
    reap: async (request) => write((how, { reaps }) => reaps.reap(how, request)),
    disown: async (request) => write((how) => disown(how, request)),

    cancel: async (target, why) => write((how) => cancel(how, target, why)),
    revive: async (target, revival, why) => write((how) => revive(how, target, { revival, why })),
    reschedule: async (target, due, _why) => write((how) => reschedule(how, target, due)),
    remove: async (target, _why) => write((how) => remove(how, target, remembersMs)),
    prune: async (policies, most) =>
      write(async (how, now) => {
        const pruned = await prune({ ...how, remembersMs }, policies, most);
        now.facts = await askFacts(now.server);
        return pruned;
      }),

    async get(refs) {
      const looking = openLife();
      return refs.length === 0 ? [] : get(looking, refs);
    },
    place: async (ref) => place(openLife(), ref),
    find: async (filter, page) => find(openLife(), filter, page),
    count: async () => count(openLife()),
    countDead: async (request) => countDead(openLife(), request),

    hold: async (changes) =>
      write(async (how) => void (changes.length > 0 && (await hold(how, changes)))),
    limit: async (changes) =>
      write(async (how) => void (changes.length > 0 && (await limit(how, changes)))),
    lines: async (queue, page) => lines(openLife().server, queue, page),

    outbox: {
      read: async (most) => readOutbox(openLife(), most),
      async clear(ids) {
        const looking = openLife();
        if (ids.length > 0) await clearOutbox(looking, ids);
      },
    },
    ledger: {
      async append(entries) {
        const looking = openLife();
        return entries.length === 0 ? [] : append(looking, entries);
      },
      read: async (filter, page) => read(openLife(), filter, page),
      async amend(amendments) {
        const looking = openLife();
        return amendments.length === 0 ? [] : amend(looking, amendments);
      },
      count: async (filter, upTo) => countEntries(openLife(), filter, upTo),
      trim: async (request) => trim(openLife(), request),
      remove: async (ids) => removeEntries(openLife(), ids),
    },
    records: {
      async read(names) {
        const { server } = openLife();
        return names.length === 0 ? [] : readRecords(server, names);
      },
      async swap(swaps) {
        const { server } = openLife();
        return swaps.length === 0 ? [] : swap(server, swaps);
      },
      scan: async (request) => scan(openLife().server, request),
    },
  };
}

/** What exists only while the store is open. */
interface Life extends OpenServer {
  facts: ServerFacts;
  readonly queues: QueueBook;
  readonly listener: Listener;
  readonly handovers: Handovers;
  readonly leases: Leases;
  readonly reaps: Reaps;
}

const OPTIONS = ["url", "client", "prefix", "wait", "deadlineMs", "remembersMs", "now"];

function checkStoreOptions(options: RedisStoreOptions): void {
  checkOptions("redisStore", options, OPTIONS);
  checkPlace(options);
  const { prefix, wait, deadlineMs, remembersMs } = options;
  if (prefix !== undefined && !/^[A-Za-z0-9_.:-]{1,64}$/.test(prefix)) {
    throw new InvalidOptionError("prefix takes 1 to 64 letters, digits and _ . : -");
  }
  for (const [name, ms] of Object.entries({ deadlineMs, remembersMs })) {
    if (ms !== undefined && !(Number.isFinite(ms) && ms > 0)) {
      throw new InvalidOptionError(`${name} takes milliseconds, more than 0`);
    }
  }
  if (wait === undefined) return;
  checkOptions("wait", wait, ["replicas", "timeoutMs"]);
  const isGood = wait.replicas >= 1 && wait.timeoutMs > 0 && Number.isInteger(wait.replicas);
  if (!isGood) throw new InvalidOptionError("wait takes { replicas, timeoutMs }, both 1 or more");
}
