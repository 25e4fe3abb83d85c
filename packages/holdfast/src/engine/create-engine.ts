/** What a Holdfast is made of, put together. Each part has its own file and knows only what it needs. */
import type { JobContract } from "../core/contract.ts";
import type { LedgerStore } from "../core/ledger.ts";
import type { Store } from "../core/store.ts";
import { LedgerWriter } from "./settle/ledger-writer.ts";
import { Composer } from "./produce/compose-job.ts";
import { Events } from "./events.ts";
import { InlineRunner } from "./produce/inline-runner.ts";
import type { Logger } from "./logger.ts";
import { Operator } from "./operate/operator.ts";
import { Producer } from "./produce/producer.ts";
import { Registry } from "./registry.ts";
import { Retention, type RetentionOptions } from "./retention.ts";
import type { Runtime } from "./runtime.ts";
import { Spool, type SpoolStore } from "./produce/spool.ts";
import { Spooler } from "./produce/spooler.ts";
import type { AnyContract } from "./typed-jobs.ts";
import { Waiter } from "./operate/waiter.ts";

/** What the front door makes of its options. */
export interface EngineOptions {
  readonly store: Store;
  readonly hasStore: boolean;
  readonly ledger: LedgerStore | "store" | undefined;
  readonly isInline: boolean;
  readonly spool: SpoolStore | null;
  readonly jobs: readonly AnyContract[];
  readonly logger: Logger;
  readonly retention: RetentionOptions | undefined;
  readonly maxPayloadBytes: number;
  readonly runtime: Runtime;
}

export interface Parts {
  readonly store: Store;
  /** False: the store only stands in for one that nobody gave. */
  readonly hasStore: boolean;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly events: Events;
  readonly retention: Retention;
  readonly composer: Composer;
  readonly ledgerWriter: LedgerWriter;
  /** Null unless jobs may run in their callers. */
  readonly inline: InlineRunner | null;
  /** Null unless jobs may be spooled. */
  readonly spooler: Spooler | null;
  readonly producer: Producer;
  readonly operator: Operator;
  readonly waiter: Waiter;
}

/** `ready` resolves once the store is open. */
export function createEngine(options: EngineOptions, ready: () => Promise<void>): Parts {
  const { store, hasStore, runtime, logger, maxPayloadBytes } = options;
  const registry = new Registry();
  for (const contract of options.jobs) registry.addContract(contract as JobContract);
  const events = new Events(logger);
  const composer = new Composer({ runtime, registry, maxPayloadBytes });
  const ledgerWriter = new LedgerWriter({ store, ledger: options.ledger, runtime, logger });
  const inline = options.isInline
    ? new InlineRunner({ runtime, logger, events, registry, composer, ledgerWriter, hasStore })
    : null;
  const spooler = options.spool
    ? new Spooler({
        ...{ spool: new Spool(options.spool), runtime, logger },
        deliver: (jobs) => producer.deliver(jobs),
      })
    : null;
  const producer = new Producer({ store, runtime, composer, ready, spooler, inline });
  return {
    ...{ store, hasStore, runtime, logger, registry, events, composer, ledgerWriter },
    ...{ inline, spooler, producer },
    retention: new Retention(options.retention),
    operator: new Operator({ store, runtime, registry, ledgerWriter, maxPayloadBytes }),
    waiter: new Waiter({ store, runtime, isComing: (id) => spooler?.has(id) ?? false }),
  };
}
