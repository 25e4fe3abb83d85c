/**
 * A store whose leases, renewals, settles and reaps are written down, with the fences: when they
 * were sent and what was answered. So the judge does not depend on the engine's own word for what it
 * did. Of every other verb only the failures are written down, and of any the first answer after the
 * store was silent.
 */
import type { Store } from "../../packages/holdfast/src/index.ts";
import { monotonicMs, type Witness } from "./witness.ts";

/** Idle workers ask more often than that. */
const SILENCE_MS = 5_000;

export function witnessedStore(store: Store, witness: Witness): Store {
  let isNamed = false;
  let answeredAt = monotonicMs();
  let hasFailed = false;

  function answered(): void {
    const now = monotonicMs();
    if (hasFailed || now - answeredAt > SILENCE_MS) {
      witness.saw({ what: "answered again", from: answeredAt });
    }
    answeredAt = now;
    hasFailed = false;
  }

  async function watch<Out>(verb: string, call: () => Promise<Out>): Promise<[Out, number]> {
    const askedAt = monotonicMs();
    try {
      const answer = await call();
      answered();
      return [answer, askedAt];
    } catch (error) {
      hasFailed = true;
      witness.saw({ what: "call failed", verb, askedAt, error: String(error) });
      throw error;
    }
  }

  const verbs: Partial<Store> = {
    async lease(request) {
      if (!isNamed) witness.saw({ what: "named", worker: request.worker });
      isNamed = true;
      const [reply, askedAt] = await watch("lease", () => store.lease(request));
      if (reply.jobs.length > 0) {
        const jobs = reply.jobs.map(({ id, fence, attempt }) => ({ id, fence, attempt }));
        witness.saw({ what: "leased", askedAt, jobs });
      }
      return reply;
    },
    async renew(renewals, leaseMs) {
      const [results, askedAt] = await watch("renew", () => store.renew(renewals, leaseMs));
      const of = (wanted: boolean) =>
        renewals
          .filter((_, at) => (results[at] !== "lost") === wanted)
          .map(({ id, fence }) => ({ id, fence }));
      witness.saw({ what: "renewed", askedAt, kept: of(true), lost: of(false) });
      return results;
    },
    async settle(settlements) {
      const jobs = settlements.map(({ id, fence, outcome }) => ({ id, fence, kind: outcome.kind }));
      witness.saw({ what: "settling", jobs });
      const [results, askedAt] = await watch("settle", () => store.settle(settlements));
      const settled = jobs.flatMap((job, at) => {
        const answer = results[at]!;
        // It is asked again.
        return answer === "busy" ? [] : [{ ...job, answer }];
      });
      witness.saw({ what: "settled", askedAt, jobs: settled });
      return results;
    },
    // Looked up when it is called: some stores know only once they are open whether they have it.
    within(tx) {
      if (!store.within) throw new Error("this store takes part in no transactions");
      return store.within(tx);
    },
    async reap(request) {
      const [reaped, askedAt] = await watch("reap", () => store.reap(request));
      if (reaped.length > 0) {
        const jobs = reaped.map(({ id, worker }) => ({ id, worker }));
        witness.saw({ what: "reaped", askedAt, jobs });
      }
      return reaped;
    },
  };

  return new Proxy(store, {
    get(target, name) {
      if (Object.hasOwn(verbs, name)) return verbs[name as keyof Store];
      return bound(target, name, watch);
    },
  });
}

type Watch = <Out>(verb: string, call: () => Promise<Out>) => Promise<[Out, number]>;

/** A verb, or a group of verbs such as the outbox. A store may be a class with private fields. */
function bound(target: object, name: string | symbol, watch: Watch): unknown {
  const value: unknown = Reflect.get(target, name);
  if (typeof value === "object" && value !== null) {
    return new Proxy(value, { get: (group, verb) => bound(group, verb, watch) });
  }
  if (typeof value !== "function") return value;
  return (...args: unknown[]): unknown => {
    const reply: unknown = Reflect.apply(value, target, args);
    if (!(reply instanceof Promise)) return reply;
    return watch(String(name), () => reply).then(([out]) => out);
  };
}
