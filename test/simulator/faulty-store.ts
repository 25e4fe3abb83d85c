/**
 * The store as one process sees it: every verb goes over the process's own wire. What is sent is
 * fixed at that moment, as it would be on a real wire.
 */
import { NotInTransactionError } from "../../packages/holdfast/src/core/errors.ts";
import type { LedgerEntry } from "../../packages/holdfast/src/core/ledger.ts";
import type {
  LeaseRef,
  LeaseReply,
  Settlement,
  Store,
} from "../../packages/holdfast/src/core/store.ts";
import { SimTransaction, withinOf } from "./transaction.ts";
import { attemptKey, type AttemptsCall, type Run } from "./watcher.ts";
import type { Wire } from "./wire.ts";

export interface FaultyStoreOptions {
  readonly wire: Wire;
  readonly process: string;
  /** Its queues lie on several servers, and what one of them answers may get lost alone. */
  readonly hasSeveralServers: boolean;
  readonly now: () => number;
  /** The process hears that it has a lease, or still has it. */
  readonly onGranted: (run: Run, sentAt: number) => void;
  /** It hears that it has it no more. */
  readonly onLost: (run: Run) => void;
  /** A call about attempts leaves the process, and its answer is heard. */
  readonly onAsked: (call: AttemptsCall) => void;
  readonly onHeard: (call: AttemptsCall) => void;
}

export function faultyStore(inner: Store, options: FaultyStoreOptions): Store {
  const { wire, process, hasSeveralServers, now, onGranted, onLost, onAsked, onHeard } = options;

  function over<Args extends readonly unknown[], Out>(
    name: string,
    verb: (...args: Args) => Promise<Out>,
  ): (...args: Args) => Promise<Out> {
    return (...args) => wire.send(name, () => verb(...args));
  }

  /** About attempts: those who watch want to know which. */
  async function about<Out>(
    verb: AttemptsCall["verb"],
    refs: readonly LeaseRef[],
    apply: () => Promise<Out>,
  ): Promise<Out> {
    const attempts = new Set(refs.map(({ id, fence }) => attemptKey({ jobId: id, fence })));
    const call = { verb, process, attempts, sentAt: now() };
    onAsked(call);
    const out = await wire.send(verb, apply, { jobs: refs });
    onHeard(call);
    return out;
  }

  return {
    // Handlers settle in transactions that are simulated, whatever the store itself has.
    info: () => ({
      ...inner.info(),
      ...{ transactions: true, transactionBlocksWriters: false, hasSeveralServers },
    }),
    async open() {
      await wire.send("open", async () => {});
      wire.open();
    },
    async close() {
      wire.close();
    },
    onWakeup: (listener) => wire.onWakeup(listener),
    now: over("now", inner.now),

    insert: (jobs, how) => {
      const sent = [...jobs];
      return wire.send("insert", () => inner.insert(sent, how), { jobs: sent });
    },
    adopt: over("adopt", inner.adopt),
    async lease(request) {
      const sentAt = now();
      const asked = request.queues.map(({ queue }) => queue);
      const unsure = hasSeveralServers ? wire.losesPartOf(asked) : [];
      const ask = async () => without(unsure, await inner.lease(request));
      const queues = asked.filter((queue) => !unsure.includes(queue));
      const reply = await wire.send("lease", ask, { queues });
      for (const { id, fence } of reply.jobs) onGranted({ jobId: id, fence, process }, sentAt);
      return reply;
    },
    async renew(renewals, leaseMs) {
      const sentAt = now();
      const sent = [...renewals];
      const results = await about("renew", sent, () => inner.renew(sent, leaseMs));
      sent.forEach(({ id, fence }, at) => {
        const run = { jobId: id, fence, process };
        if (results[at] === "lost") onLost(run);
        else onGranted(run, sentAt);
      });
      return results;
    },
    settle: (settlements) => {
      const sent = settlements.map(withEntries);
      return about("settle", sent, () => inner.settle(sent));
    },
    // A reaping of none only asks whether every server answers.
    reap: (request) => wire.send(request.limit === 0 ? "reach" : "reap", () => inner.reap(request)),
    disown: (request) => {
      const { queues, worker } = request;
      return wire.send("disown", () => inner.disown(request), { queues, disowned: worker });
    },

    cancel: over("cancel", inner.cancel),
    revive: over("revive", inner.revive),
    reschedule: over("reschedule", inner.reschedule),
    remove: over("remove", inner.remove),
    prune: over("prune", inner.prune),

    get: over("get", inner.get),
    place: over("place", inner.place),
    find: over("find", inner.find),
    count: over("count", inner.count),
    countDead: over("countDead", inner.countDead),
    hold: over("hold", inner.hold),
    limit: over("limit", inner.limit),
    lines: over("lines", inner.lines),

    outbox: {
      read: (limit) => wire.send("outbox.read", () => inner.outbox.read(limit)),
      clear: (ids) => wire.send("outbox.clear", () => inner.outbox.clear(ids)),
    },
    ledger: {
      append: (entries) => wire.send("ledger.append", () => inner.ledger.append(entries)),
      read: (filter, page) => wire.send("ledger.read", () => inner.ledger.read(filter, page)),
      count: (filter, upTo) => wire.send("ledger.count", () => inner.ledger.count(filter, upTo)),
      amend: (amendments) => wire.send("ledger.amend", () => inner.ledger.amend(amendments)),
      trim: (request) => wire.send("ledger.trim", () => inner.ledger.trim(request)),
      remove: (ids) => wire.send("ledger.remove", () => inner.ledger.remove(ids)),
    },
    records: {
      read: (keys) => wire.send("records.read", () => inner.records.read(keys)),
      swap: (swaps) => wire.send("records.swap", () => inner.records.swap(swaps)),
      scan: (request) => wire.send("records.scan", () => inner.records.scan(request)),
    },
    within(tx) {
      if (tx instanceof SimTransaction) return withinOf(tx, withEntries);
      throw new NotInTransactionError("this is no transaction of the simulated database");
    },
  };
}

/** What is left of a reply of which these queues' parts got lost. */
function without(unsure: readonly string[], reply: LeaseReply): LeaseReply {
  if (unsure.length === 0) return reply;
  return { ...reply, unsure, jobs: reply.jobs.filter(({ queue }) => !unsure.includes(queue)) };
}

/**
 * In a plain world the engine writes no entries; here they come with the settle, as those of failures do in a
 * world under control. Which settles carry some follows from the fence, so a repeat is the same.
 */
function withEntries(settlement: Settlement): Settlement {
  const { id, fence, spawn, entries = [] } = settlement;
  const sent = { ...settlement, ...(spawn && { spawn: [...spawn] }) };
  if (fence % 3 === 0) return { ...sent, entries: [...entries, entry("entry", id, fence)] };
  if (fence % 7 === 0) return { ...sent, outbox: [entry("relayed", id, fence)] };
  return sent;
}

function entry(kind: string, jobId: string, fence: number): LedgerEntry {
  return {
    id: `${kind}/${jobId}/${fence}`,
    kind,
    jobId,
    type: null,
    queue: null,
    group: null,
    category: null,
    state: "open",
    body: "{}",
    at: null,
  };
}
