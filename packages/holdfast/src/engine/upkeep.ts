/** The engine's own chores: reap, tell the fleet, relay, prune, trim, say how full the store is. */
import type { Events } from "./events.ts";
import type { Chore } from "./extension.ts";
import { BEAT_EVERY_MS, LOOK_WHILE_BUSY_MS, type Fleet } from "./lease/fleet.ts";
import { QueueNotes } from "./lease/queue-notes.ts";
import { reaper } from "./lease/reaper.ts";
import type { Logger } from "./logger.ts";
import type { Registry } from "./registry.ts";
import { reportMemory } from "./report-memory.ts";
import type { QueueSettings } from "./queue-settings.ts";
import type { Retention } from "./retention.ts";
import type { Runtime } from "./runtime.ts";
import type { LedgerWriter } from "./settle/ledger-writer.ts";
import { relayChores } from "./settle/relay.ts";
import type { WatchedStore } from "./watched-store.ts";

const PRUNE_EVERY_MS = 60_000;
const PRUNE_STEP = 500;
/** There while a program of the fleet archives dead jobs. */
export const ARCHIVES = "holdfast/archives";
const REPORT_MEMORY_EVERY_MS = 600_000;

export interface UpkeepOptions {
  readonly watched: WatchedStore;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly events: Events;
  readonly retention: Retention;
  readonly settings: QueueSettings;
  readonly ledgerWriter: LedgerWriter;
  readonly fleet: Fleet;
}

export function upkeep(options: UpkeepOptions): readonly Chore[] {
  const { watched, logger, registry, retention, settings, ledgerWriter, fleet } = options;
  const notes = new QueueNotes({
    ...{ store: watched.store, registry, logger, queues: () => fleet.ownQueues },
  });
  return [
    reaper(options),
    ...fleetChores({ fleet, notes, settings }),
    ...relayChores(options),
    {
      name: "prune",
      everyMs: PRUNE_EVERY_MS,
      async run({ isStopped }) {
        await settings.obey();
        // Another process may archive them; a program without an archive must not be faster.
        const [archiving] = await watched.store.records.read([ARCHIVES]);
        const policies = archiving ? retention.withoutDead : retention.policies;
        let pruned;
        do {
          pruned = await watched.store.prune(policies, PRUNE_STEP);
        } while (pruned === PRUNE_STEP && !isStopped());
      },
    },
    {
      name: "report memory",
      everyMs: REPORT_MEMORY_EVERY_MS,
      run: async () => reportMemory(watched.store.info(), logger),
    },
    ...(ledgerWriter.home === "nowhere" ? [] : [trimmer(options)]),
  ];
}

/** One record written and one look at the others' every five seconds; commands are heard more often. */
function fleetChores({
  fleet,
  notes,
  settings,
}: Pick<UpkeepOptions, "fleet" | "settings"> & { readonly notes: QueueNotes }): readonly Chore[] {
  let sinceLookMs = BEAT_EVERY_MS;
  return [
    { name: "beat", everyMs: BEAT_EVERY_MS, run: () => fleet.beat() },
    // By itself: it asks for each queue that it does not know, and meanwhile others would take this process for gone.
    { name: "look at the queues", everyMs: BEAT_EVERY_MS, run: () => notes.look() },
    {
      name: "look at the fleet",
      everyMs: LOOK_WHILE_BUSY_MS,
      async run() {
        if (sinceLookMs >= BEAT_EVERY_MS || !fleet.isBusy) {
          sinceLookMs = 0;
          await fleet.look();
        } else {
          await fleet.hear();
        }
        await settings.obey();
        const waitMs = fleet.isBusy ? LOOK_WHILE_BUSY_MS : BEAT_EVERY_MS;
        sinceLookMs += waitMs;
        return waitMs;
      },
    },
  ];
}

function trimmer({ ledgerWriter, retention, settings }: UpkeepOptions): Chore {
  return {
    name: "trim the ledger",
    everyMs: PRUNE_EVERY_MS,
    async run({ isStopped }) {
      await settings.obey();
      for (const { kind } of retention.ledger) {
        await trimLedger({ ledgerWriter, retention, kind, isStopped });
      }
    },
  };
}

/** Removes what is past its retention; answers how many entries. */
export async function trimLedger(
  options: Pick<UpkeepOptions, "ledgerWriter" | "retention"> & {
    readonly kind: string;
    readonly isStopped?: () => boolean;
  },
): Promise<number> {
  const { ledgerWriter, retention, kind, isStopped = () => false } = options;
  let trimmed = 0;
  for (const rule of retention.ledger.filter((one) => one.kind === kind)) {
    let step;
    do {
      step = await ledgerWriter.ask((ledger) => ledger.trim({ ...rule, limit: PRUNE_STEP }));
      trimmed += step;
    } while (step === PRUNE_STEP && !isStopped());
  }
  return trimmed;
}
