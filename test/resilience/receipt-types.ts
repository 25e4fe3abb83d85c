/** What receipts may say follows from what was asked for. Compiled, never run. */
import { Holdfast, type Store } from "../../packages/holdfast/src/index.ts";

export async function receiptsOf(store: Store): Promise<void> {
  const plain = await new Holdfast({ store }).enqueue("t", null, { queue: "q" });
  plain.status satisfies "added" | "duplicate";

  const inline = new Holdfast({ store, resilient: "inline" });
  const job = inline.define({ type: "t", run: () => 1 });
  const receipt = await job.enqueue(null);
  receipt.status satisfies "added" | "duplicate" | "ran";
  // @ts-expect-error it may have run in the caller
  receipt.status satisfies "added" | "duplicate";
  receipt.outcome?.status satisfies "succeeded" | "dead" | "cancelled" | "pruned" | undefined;

  const spooling = new Holdfast({ store, resilient: { spool: "spool.db" } });
  const [answer] = await spooling.enqueueAll([]);
  answer?.status satisfies "added" | "duplicate" | "spooled" | "refused" | undefined;
  // @ts-expect-error a spooled job never ran in its caller
  answer?.status satisfies "added" | "duplicate" | "ran" | "refused" | undefined;
  const within = await spooling.within({}).enqueue("t", null, { queue: "q" });
  within.status satisfies "added" | "duplicate";

  void new Holdfast({ resilient: "inline" });
  // @ts-expect-error a spool is of no use without a store to deliver to
  void new Holdfast({ resilient: { spool: "spool.db" } });
  // @ts-expect-error nothing at all
  void new Holdfast({});
}
