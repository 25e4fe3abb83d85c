/** What a Holdfast is made of, put together. Each part has its own file and knows only what it needs. */
import { itemOptions, type JobContract } from "../core/contract.ts";
import { ClosedError } from "../core/errors.ts";
import type { LedgerStore } from "../core/ledger.ts";
import { putRecord } from "../core/put-record.ts";
import { Redactor, type RedactOptions } from "../core/redact.ts";
import type { Store } from "../core/store.ts";
import { AgingQueues } from "./aging-queues.ts";
import { Chores } from "./chores.ts";
import { Events } from "./events.ts";
import type { Chore, ExtensionFactory, ExtensionHost } from "./extension.ts";
import { Extensions } from "./extensions.ts";
import { gatheredRecords } from "./gathered-records.ts";
import { Fleet } from "./lease/fleet.ts";
import { IdleLooks } from "./lease/idle-looks.ts";
import type { WorkOptions } from "./lease/work-options.ts";
import type { Logger } from "./logger.ts";
import { Operator } from "./operate/operator.ts";
import { Waiter } from "./operate/waiter.ts";
import { Composer } from "./produce/compose-job.ts";
import { InlineRunner } from "./produce/inline-runner.ts";
import { Producer } from "./produce/producer.ts";
import { Spool, type SpoolStore } from "./produce/spool.ts";
import { Spooler } from "./produce/spooler.ts";
import { Registry } from "./registry.ts";
import { QueueSettings } from "./queue-settings.ts";
import { Retention, type RetentionOptions } from "./retention.ts";
import { Pipeline } from "./run/pipeline.ts";
import { UnknownTypes } from "./run/unknown-types.ts";
import { waitAtMost, type Runtime } from "./runtime.ts";
import { LedgerWriter } from "./settle/ledger-writer.ts";
import type { AnyContract } from "./typed-jobs.ts";
import { ARCHIVES, trimLedger, upkeep } from "./upkeep.ts";
import { WatchedStore } from "./watched-store.ts";

/** Of a payload, in an entry of the ledger. */
const ENTRY_PAYLOAD = 16 * 1024;
const SMALL_ENTRY_PAYLOAD = 2 * 1024;
/** An archive that was not heard of for so long is none any more. */
const ARCHIVES_MS = 7 * 86_400_000;

/** What the front door makes of its options. */
export interface EngineOptions {
  readonly store: Store;
  /** False: the store only stands in for one that was not given. */
  readonly hasStore: boolean;
  /** Undefined: none. */
  readonly ledger: LedgerStore | "store" | undefined;
  readonly isInline: boolean;
  readonly spool: { readonly store: SpoolStore; readonly maxJobs: number } | null;
  readonly jobs: readonly AnyContract[];
  readonly logger: Logger;
  readonly retention: RetentionOptions | undefined;
  /** Dead jobs are archived before they go. */
  readonly archivesDead: boolean;
  readonly redact: RedactOptions;
  readonly maxPayloadBytes: number;
  /** Of types that name none. */
  readonly maxAttempts: number;
  /** What a worker does unless it is told otherwise. */
  readonly work: WorkOptions;
  readonly appVersion: string | null;
  readonly runtime: Runtime;
}

export interface Engine {
  /** The store, watched: the engine uses it in no other way. */
  readonly watched: WatchedStore;
  readonly store: Store;
  readonly hasStore: boolean;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly events: Events;
  readonly extensions: Extensions;
  /** What an extension is made with. */
  readonly host: ExtensionHost;
  readonly pipeline: Pipeline;
  readonly retention: Retention;
  /** What a worker does unless it is told otherwise. */
  readonly work: WorkOptions;
  /** What the store says of queues, over what this process's code says. */
  readonly settings: QueueSettings;
  readonly composer: Composer;
  readonly ledgerWriter: LedgerWriter;
  readonly fleet: Fleet;
  readonly idleLooks: IdleLooks;
  readonly chores: Chores;
  /** Null unless jobs may run in their callers. */
  readonly inline: InlineRunner | null;
  /** Null unless jobs may be spooled. */
  readonly spooler: Spooler | null;
  readonly producer: Producer;
  readonly operator: Operator;
  readonly waiter: Waiter;
}

/** `ready` resolves once the store is open. */
export function createEngine(options: EngineOptions, ready: () => Promise<void>): Engine {
  const { hasStore, runtime, logger, maxPayloadBytes } = options;
  let aging!: AgingQueues;
  const watched: WatchedStore = new WatchedStore({
    ...{ store: options.store, hasStore, runtime, logger },
    longestGapMs: () => fleet.shortestOwnLeaseMs / 2,
    around: (plain) => (aging = new AgingQueues(plain, runtime)).store,
  });
  const { store } = watched;
  const hasSeveralServers = () => watched.hasSeveralServers;
  const fleet = new Fleet({ records: store.records, runtime, version: options.appVersion });
  fleet.onChange(() => aging.forget());
  const redactor = new Redactor(options.redact, (error) => {
    logger.error("the redactor threw: everything it was given is hidden", { error });
  });
  const registry = new Registry(options.maxAttempts);
  for (const contract of options.jobs) registry.addContract(contract as JobContract);
  const events = new Events(logger);
  const extensions = new Extensions({ runtime, logger });
  const unknownTypes = new UnknownTypes({ runtime, logger });
  const pipeline = new Pipeline({ runtime, logger, events, registry, extensions, unknownTypes });
  const composer = new Composer({
    ...{ runtime, registry, maxPayloadBytes, place: (job) => extensions.place(job) },
  });
  const ledgerWriter = new LedgerWriter({ store, ledger: options.ledger, runtime, logger });
  const inline = options.isInline
    ? new InlineRunner({ runtime, logger, registry, pipeline, composer, ledgerWriter, hasStore })
    : null;
  const spooler = options.spool
    ? new Spooler({
        ...{ spool: new Spool(options.spool.store), runtime, logger },
        maxJobs: options.spool.maxJobs,
        deliver: (jobs) => producer.deliver(jobs),
      })
    : null;
  const producer = new Producer({
    ...{ store, runtime, composer, ready, spooler, inline, events, extensions },
    hasSeveralServers,
  });
  const operator = new Operator({ store, runtime, registry, ledgerWriter, maxPayloadBytes });
  const retention = new Retention(options.retention, { archivesDead: options.archivesDead });
  const settings = new QueueSettings({
    ...{ records: store.records, fleet, logger, retention },
    declared: options.retention,
    appVersion: options.appVersion,
  });
  const ours = upkeep({
    ...{ watched, runtime, logger, registry, events, retention, settings, ledgerWriter, fleet },
  });
  const chores = new Chores({
    ...{ runtime, logger },
    chores: (): readonly Chore[] => [...ours, ...extensions.chores],
  });
  return {
    ...{ watched, store, hasStore, runtime, logger, registry, events, extensions, pipeline },
    work: options.work,
    ...{
      retention,
      settings,
      composer,
      ledgerWriter,
      fleet,
      idleLooks: new IdleLooks(),
      chores,
      inline,
      spooler,
      producer,
      operator,
    },
    host: hostOf({
      ...{ store, runtime, logger, registry, settings, retention, ledgerWriter, fleet, operator },
      ...{ redactor, events, chores, composer, extensions, aging },
    }),
    waiter: new Waiter({
      ...{ store, hasSeveralServers, runtime },
      isComing: (id) => spooler?.has(id) ?? false,
    }),
  };
}

/** Makes extensions, in the order in which they are asked. */
export function extend(engine: Engine, factories: readonly ExtensionFactory[]): void {
  for (const factory of factories) engine.extensions.add(factory(engine.host));
}

function hostOf(
  parts: Pick<Engine, "store" | "runtime" | "logger" | "settings" | "retention"> &
    Pick<Engine, "registry" | "ledgerWriter" | "fleet" | "operator" | "chores" | "composer"> &
    Pick<Engine, "extensions" | "events"> & {
      readonly redactor: Redactor;
      readonly aging: AgingQueues;
    },
): ExtensionHost {
  const { store, runtime, logger, registry, settings, retention, redactor, aging } = parts;
  const { ledgerWriter, fleet, operator, events, chores, composer, extensions } = parts;
  // What a store keeps in memory is dear.
  const isInMemory = () => ledgerWriter.home === "store" && store.info().usedMemoryBytes != null;
  return {
    ...{ runtime, logger, settings, aging, redactor },
    records: gatheredRecords(store.records),
    ...{ jobs: store, lines: store, workers: fleet, events, chores },
    storeInfo: () => store.info(),
    handleOwn: (contract, handler) => registry.addOwn(contract, handler),
    compose: (item) => {
      const target = item.contract ?? item.type;
      const composed = composer.compose(target, item.payload, itemOptions(item));
      return composed instanceof Promise ? composed.then(({ job }) => job) : composed.job;
    },
    record: (entries) => ledgerWriter.record(entries),
    hooksChanged: () => extensions.changed(),
    attemptsOf: (type) => registry.attemptsOf(registry.get(type)?.contract),
    hasLedger: ledgerWriter.home !== "nowhere",
    archivedPolicies: async () => {
      await settings.obey();
      await putRecord(store.records, ARCHIVES, { value: "true", ttlMs: ARCHIVES_MS });
      return retention.archived;
    },
    ledger: (call) => ledgerWriter.ask(call),
    lastingRecords: (call) => ledgerWriter.askRecords(call),
    entryTime: () => ledgerWriter.now(),
    entryPayloadBytes: () => (isInMemory() ? SMALL_ENTRY_PAYLOAD : ENTRY_PAYLOAD),
    trimLedger: async (kind) => {
      await settings.obey();
      return trimLedger({ ledgerWriter, retention, kind });
    },
    audit: (action, about) => operator.note(action, about),
  };
}

/** The store is open, and what must be known before anything else is. */
export async function openEngine({ store, extensions }: Engine): Promise<void> {
  await store.open();
  await extensions.opened();
}

/** How long `close` waits for entries to reach a ledger elsewhere, when no store keeps them. */
const LAST_ENTRIES_MS = 1_000;

/** After the workers have stopped: lets what is on its way arrive, then closes the stores. */
export async function closeEngine(engine: Engine): Promise<void> {
  const { producer, spooler, waiter, store, ledgerWriter, runtime, chores, extensions } = engine;
  chores.close();
  await producer.idle();
  await extensions.closing();
  await spooler?.close();
  waiter.close(new ClosedError("this Holdfast was closed while you waited"));
  await store.close();
  await waitAtMost(runtime, ledgerWriter.idle(), LAST_ENTRIES_MS);
  await ledgerWriter.close();
}
