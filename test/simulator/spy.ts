/**
 * Sits directly on the real store and sees every verb as the store does it: what went in, what came
 * out, in which order. It changes nothing. A call and its judgement are one moment of virtual time.
 */
import type { Store, Target } from "../../packages/holdfast/src/core/store.ts";
import type { Auditor } from "./auditor.ts";
import type { Operation } from "./facts/apply-operate.ts";
import type { Judge } from "./judge.ts";
import { describeCall, type Describe } from "./describe.ts";

export interface SpyOptions {
  readonly judge: Judge;
  readonly auditor: Auditor;
  readonly describe: Describe;
  /** Whose connection this is. */
  readonly process: string;
  /** Called after each verb that may have made work or finished a job. */
  readonly onChange: () => void;
}

/** `real` is asked at every call: a restart may have put another connection in its place. */
export function spiedStore(real: () => Store, options: SpyOptions): Store {
  const { judge, auditor, describe, process, onChange } = options;
  const say = describeCall(describe, process);

  /** The real call, and right after it the moment at which it is judged. */
  async function done<Out>(call: Promise<Out>): Promise<Out> {
    const out = await call;
    judge.begin();
    return out;
  }

  async function operate(
    operation: Operation,
    target: Target,
    why: Parameters<Store["remove"]>[1],
    act: Store["remove"],
  ) {
    const answer = await done(act(target, why));
    for (const { id, result } of answer.changes) judge.operated(id, operation, result, why.by);
    say(
      operation.verb,
      answer.changes.map(({ id, result }) => [id, result]),
    );
    const ids = answer.changes.map(({ id }) => id);
    await auditor.touched(ids);
    onChange();
    return answer;
  }

  return {
    open: () => real().open(),
    close: () => real().close(),
    info: () => real().info(),
    onWakeup: (listener) => real().onWakeup(listener),
    adopt: (jobs) => real().adopt(jobs),
    place: (ref) => real().place(ref),
    lines: (queue, page) => real().lines(queue, page),
    now: () => done(real().now()),
    async insert(jobs, how = {}) {
      const results = await done(real().insert(jobs, how));
      say(
        "insert",
        jobs.map(({ id }, at) => [id, results[at]!.outcome]),
      );
      judge.inserted(jobs, results, { evenIfFull: how.evenIfFull ?? false });
      await auditor.touched(jobs.map(({ id }) => id));
      onChange();
      return results;
    },
    async lease(request) {
      const reply = await done(real().lease(request));
      say(
        `lease up to ${request.limit}`,
        reply.jobs.map((job) => [job.id, `attempt ${job.attempt} ${describe.fence(job.fence)}`]),
      );
      judge.leased(request, reply);
      await auditor.touched(reply.jobs.map(({ id }) => id));
      return reply;
    },
    async renew(renewals, leaseMs) {
      const results = await done(real().renew(renewals, leaseMs));
      say(
        "renew",
        renewals.map(({ id, fence, updates, starts }, at) => [
          id,
          `${describe.fence(fence)} ${results[at]}${starts ? " starts" : ""}${updates ? ` with ${Object.keys(updates).join()}` : ""}`,
        ]),
      );
      judge.renewed(renewals, results, { leaseMs });
      await auditor.touched(renewals.map(({ id }) => id));
      return results;
    },
    async settle(settlements) {
      const results = await done(real().settle(settlements));
      say(
        "settle",
        settlements.map(({ id, fence, outcome, spawn }, at) => [
          id,
          `${outcome.kind} ${describe.fence(fence)} ${results[at]}${spawn ? ` and ${spawn.length} more` : ""}`,
        ]),
      );
      judge.settled(settlements, results);
      await auditor.settled(settlements);
      onChange();
      return results;
    },
    async reap(request) {
      const reaped = await done(real().reap(request));
      say(
        "reap",
        reaped.map(({ id, charged, crashes, worker }) => [
          id,
          `${charged ? `crash ${crashes}` : "uncharged"} of ${worker}`,
        ]),
      );
      judge.reaped(reaped);
      await auditor.touched(reaped.map(({ id }) => id));
      onChange();
      return reaped;
    },
    async disown(request) {
      const taken = judge.disownedBy(request);
      const count = await done(real().disown(request));
      say(
        `disown ${request.worker} but ${request.except.length}`,
        taken.map(({ id, fence }) => [id, describe.fence(fence)]),
      );
      judge.disowned(request, count);
      await auditor.touched(taken.map(({ id }) => id));
      onChange();
      return count;
    },

    cancel: (target, why) =>
      operate({ verb: "cancel" }, target, why, (same) => real().cancel(same, why)),
    revive: (target, how, why) =>
      operate({ verb: "revive", how }, target, why, (same) => real().revive(same, how, why)),
    reschedule: (target, due, why) =>
      operate({ verb: "reschedule", due }, target, why, (same) =>
        real().reschedule(same, due, why),
      ),
    remove: (target, why) =>
      operate({ verb: "remove" }, target, why, (same) => real().remove(same, why)),

    async prune(policies, limit) {
      const count = await done(real().prune(policies, limit));
      say(`prune ${count}`, []);
      await auditor.pruned(count, policies);
      return count;
    },
    async get(refs) {
      const found = await done(real().get(refs));
      refs.forEach(({ id }, at) => judge.tell((watcher) => watcher.looked?.(id, found[at]!)));
      return found;
    },
    async find(filter, page) {
      const found = await done(real().find(filter, page));
      for (const job of found.jobs) judge.tell((watcher) => watcher.looked?.(job.id, job));
      return found;
    },
    countDead: (request) => real().countDead(request),
    async count() {
      const counts = await done(real().count());
      judge.tell((watcher) => watcher.counted?.(counts));
      return counts;
    },
    async hold(changes) {
      await done(real().hold(changes));
      for (const { queue, group, owner, hold } of changes) {
        say(`${hold ? "hold" : "release"} ${queue}/${group ?? "*"} by ${owner}`, []);
      }
      judge.held(changes, process);
      onChange();
    },
    async limit(changes) {
      await done(real().limit(changes));
      for (const change of changes) say(`limit ${JSON.stringify(change)}`, []);
      judge.limited(changes);
      onChange();
    },
    outbox: {
      read: (limit) => real().outbox.read(limit),
      clear: (ids) => real().outbox.clear(ids),
    },
    ledger: {
      read: (filter, page) => real().ledger.read(filter, page),
      count: (filter, upTo) => real().ledger.count(filter, upTo),
      amend: (amendments) => real().ledger.amend(amendments),
      trim: (request) => real().ledger.trim(request),
      remove: (ids) => real().ledger.remove(ids),
      async append(entries) {
        const answers = await done(real().ledger.append(entries));
        for (const { id } of entries) judge.book.entries.add(id);
        return answers;
      },
    },
    records: {
      read: (keys) => real().records.read(keys),
      async swap(swaps) {
        const results = await real().records.swap(swaps);
        swaps.forEach((swap, at) => {
          if (results[at]!.swapped) judge.swapped(swap, process);
        });
        return results;
      },
      scan: (request) => real().records.scan(request),
    },
  };
}
