/** Puts an operation to a store. */
import type {
  Changes,
  LeaseReply,
  Store,
  Target,
  WithinTransaction,
} from "../../packages/holdfast/src/core/store.ts";
import { inSteps } from "../../packages/holdfast/src/testing/conformance/in-steps.ts";
import {
  entriesOf,
  findAll,
  linesOf,
  scanAll,
} from "../../packages/holdfast/src/testing/conformance/looking.ts";
import { relay } from "../../packages/holdfast/src/testing/conformance/relay.ts";
import type { Book } from "./book.ts";
import { countsOf, isBare } from "./dump.ts";
import type { DrawnTarget, Of, Operation } from "./operation.ts";
import * as resolve from "./resolve.ts";
import type { Moment } from "./resolve.ts";

/** A verb of the seam; the clock, reopening and transactions are for whoever owns the store. */
export type Callable = Exclude<Operation, Of<"advance" | "reopen" | "within">>;

export interface Called {
  readonly answer: unknown;
  /** Writes down what the callers have learned from the answer. */
  learn(book: Book): void;
}

const REASON = "asked for";

export async function call(operation: Callable, store: Store, moment: Moment): Promise<Called> {
  switch (operation.verb) {
    case "lease": {
      const { verb: _, ...request } = operation;
      return leased(await store.lease(resolve.leaseRequest(request)));
    }
    case "records.read": {
      const records = await store.records.read(operation.keys);
      return {
        answer: records,
        learn: (book) => {
          for (const record of records) if (record) book.sawVersion(record.key, record.version);
        },
      };
    }
    case "records.swap": {
      const swaps = operation.swaps.map((drawn) => resolve.swap(drawn, moment));
      const results = await store.records.swap(swaps);
      // With its key, so that whoever shows a version knows whose it is.
      const answer = results.map((result, index) => ({ key: swaps[index]?.key ?? "", ...result }));
      return {
        answer,
        learn: (book) => {
          for (const result of answer) {
            const version = result.swapped ? result.version : result.current?.version;
            if (version != null) book.sawVersion(result.key, version);
          }
        },
      };
    }
    case "outbox.read": {
      const items = await store.outbox.read(operation.limit);
      // What an item is called is the store's own affair.
      return { answer: items.map(({ id: _, ...item }) => item), learn: (b) => b.sawOutbox(items) };
    }
    default:
      return { answer: await answerOf(operation, store, moment), learn: () => {} };
  }
}

export function leased(reply: LeaseReply): Called {
  return { answer: reply, learn: (book) => book.leased(reply.jobs) };
}

/**
 * What a caller's transaction asks before it ends: of the transaction, or of a store that has none and is
 * asked the same without one.
 */
export async function callWithin(
  { jobs, settlements, first, evenIfFull, areNew }: Of<"within">,
  inside: Pick<WithinTransaction, "insert" | "settle">,
  moment: Moment,
): Promise<unknown[]> {
  const resolved = settlements.flatMap((one) => resolve.settlement(one, moment));
  const insert = () =>
    inside.insert(
      jobs.map((job) => resolve.newJob(job, moment)),
      { evenIfFull, areNew },
    );
  const settle = () => inside.settle(resolved);
  const answers: unknown[] = [];
  for (const ask of first === "insert" ? [insert, settle] : [settle, insert]) {
    answers.push(await ask());
  }
  return answers;
}

type Plain = Exclude<Callable, Of<"lease" | "records.read" | "records.swap" | "outbox.read">>;

async function answerOf(operation: Plain, store: Store, moment: Moment): Promise<unknown> {
  const { now, book } = moment;
  switch (operation.verb) {
    case "insert": {
      const jobs = operation.jobs.map((job) => resolve.newJob(job, moment));
      const { evenIfFull, areNew } = operation;
      return store.insert(jobs, { evenIfFull, areNew });
    }
    case "adopt":
      return store.adopt(operation.jobs.map((job) => resolve.adoptedJob(job, moment)));
    case "renew": {
      const renewals = operation.renewals.flatMap((drawn) => resolve.renewal(drawn, moment));
      return store.renew(renewals, operation.leaseMs);
    }
    case "settle": {
      const settlements = operation.settlements.flatMap((one) => resolve.settlement(one, moment));
      const results = await store.settle(settlements);
      if (store.info().spawnsElsewhere === "relayed") await relay(store);
      return results;
    }
    case "reap":
      return store.reap({ limit: operation.limit });
    case "disown": {
      const { worker, queues } = operation;
      return store.disown({ worker, queues, except: book.leases(operation.except) });
    }
    case "cancel":
      return each(operation.target, moment, (target) =>
        store.cancel(target, { reason: REASON, by: operation.by }),
      );
    case "revive": {
      const { attempts, payload, by } = operation;
      const due = resolve.due(operation.due, moment);
      const how = payload === null ? { attempts, ...due } : { attempts, payload, ...due };
      return each(operation.target, moment, (target) =>
        store.revive(target, how, { reason: REASON, by }),
      );
    }
    case "reschedule": {
      const due = resolve.due(operation.due, moment);
      return each(operation.target, moment, (target) =>
        store.reschedule(target, due, { reason: REASON, by: null }),
      );
    }
    case "remove":
      return each(operation.target, moment, (target) =>
        store.remove(target, { reason: REASON, by: null }),
      );
    case "prune":
      return store.prune(operation.policies, operation.limit);
    case "hold":
      return store.hold(operation.changes);
    case "limit":
      return store.limit(operation.changes);
    case "get":
      return store.get(operation.ids.map((id) => ({ id })));
    case "place":
      return store.place({ id: operation.id });
    case "find": {
      const { limit, order } = operation;
      return findAll(store, resolve.jobFilter(operation.filter, moment), { limit, order });
    }
    case "count":
      return countsOf(store, moment);
    case "countDead": {
      const { by, queue } = operation;
      const counts = await store.countDead({ by, ...(queue !== null && { queue }), limit: 50 });
      const examples = await store.get(counts.map(({ example: id }) => ({ id })));
      // Of several that died last, any may be the example.
      return counts.map(({ lastAt, ...count }, at) => {
        const job = examples[at];
        const isOne =
          typeof job === "object" && job?.status === "dead" && job.finishedAt === lastAt;
        return { ...count, lastAt, example: isOne ? "one that died last" : "another" };
      });
    }
    case "lines": {
      const { queue } = await store.lines(operation.queue, { limit: 1 });
      const lines = await linesOf(store, operation.queue, operation.limit);
      const isUnknown = queue === null || (isBare(queue) && lines.length === 0);
      return { queue: isUnknown ? null : queue, lines };
    }
    case "ledger.append":
      return store.ledger.append(operation.entries.map((one) => resolve.entry(one, moment)));
    case "ledger.read":
      return entriesOf(store, resolve.ledgerFilter(operation.filter, moment), operation.limit);
    case "ledger.count":
      return store.ledger.count(resolve.ledgerFilter(operation.filter, moment), operation.upTo);
    case "ledger.amend":
      return store.ledger.amend(operation.amendments);
    case "ledger.remove":
      return store.ledger.remove(operation.amendments.map(({ id }) => id));
    case "ledger.trim": {
      const { kind, olderThanMs, keep, limit } = operation;
      return store.ledger.trim({ kind, olderThanMs, keep, limit });
    }
    case "records.scan":
      return scanAll(store, operation.prefix, operation.limit);
    case "outbox.clear": {
      const ids = operation.back.map((back) => book.outboxId(back));
      return store.outbox.clear(ids.filter((id) => id !== null));
    }
  }

  /** By ids in one call; by a filter step after step, to its end. */
  async function each(
    target: DrawnTarget,
    at: Moment,
    verb: (target: Target) => Promise<Changes>,
  ): Promise<unknown> {
    if ("ids" in target) return verb({ ids: target.ids.map((id) => ({ id })) });
    const filter = resolve.jobFilter(target.filter, at);
    return inSteps(verb, { filter, frozenAt: now + target.frozenInMs, limit: target.limit });
  }
}
