/**
 * The memory store: the readable definition of the seam. Nothing is lost in translation to a
 * database here, so whoever wants to know what a verb means reads the file of its name; the other
 * stores' folders follow the same names.
 *
 * It forgets everything with its process. It is meant for tests and for reading.
 */
import { ClosedError } from "../../core/errors.ts";
import {
  checkFunction,
  checkNumber,
  checkOptions,
  MAX_DURATION_MS,
} from "../../core/option-checks.ts";
import type { Store, StoreInfo } from "../../core/store.ts";
import { adopt } from "./adopt.ts";
import { count, countDead } from "./count.ts";
import { disown } from "./disown.ts";
import { find, get, place } from "./find.ts";
import { insert } from "./insert.ts";
import { lease } from "./lease.ts";
import { amend, append, countEntries, read, removeEntries, trim } from "./ledger.ts";
import { hold, limit, lines } from "./lines.ts";
import { cancel, remove, reschedule, revive } from "./operate.ts";
import { clearOutbox, readOutbox } from "./outbox.ts";
import { prune } from "./prune.ts";
import { reap } from "./reap.ts";
import { readRecords, scan, swap } from "./records.ts";
import { renew } from "./renew.ts";
import { settle } from "./settle.ts";
import { newState, type MemoryState } from "./state.ts";

export interface MemoryStoreOptions {
  /** The host's clock in milliseconds; a test brings its own. Default `Date.now`. */
  readonly now?: () => number;
  /** How long ids and settled fences of deleted jobs are remembered. Default one hour. */
  readonly remembersMs?: number;
}

export function memoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptions("memoryStore", options, ["now", "remembersMs"]);
  const { now = Date.now, remembersMs = 3_600_000 } = options;
  checkFunction("now", now);
  checkNumber("remembersMs", remembersMs, { min: 0, max: MAX_DURATION_MS });
  const state = newState(now, remembersMs);
  let life: "new" | "open" | "closed" = "new";

  /** A verb does all its work before it first yields: no two ever overlap. */
  function verb<Args extends readonly unknown[], Answer>(
    work: (state: MemoryState, ...args: Args) => Answer,
  ): (...args: Args) => Promise<Answer> {
    return async (...args) => {
      if (life === "new") throw new ClosedError("the memory store is not open: call open() first");
      if (life === "closed") throw new ClosedError("the memory store is closed: call open() again");
      return work(state, ...args);
    };
  }

  return {
    async open() {
      life = "open";
    },
    /** What was stored stays in this object: opening it again is like a restart of its process. */
    async close() {
      life = "closed";
      state.wakeups.clear();
    },
    info: () => infoOf(state),
    now: verb(() => state.clock.now()),
    onWakeup: (listener) => state.wakeups.listen(listener),

    insert: verb(insert),
    adopt: verb(adopt),
    lease: verb(lease),
    renew: verb(renew),
    settle: verb(settle),
    reap: verb(reap),
    disown: verb(disown),

    cancel: verb(cancel),
    revive: verb(revive),
    reschedule: verb(reschedule),
    remove: verb(remove),
    prune: verb(prune),

    get: verb(get),
    place: verb(place),
    find: verb(find),
    count: verb(count),
    countDead: verb(countDead),

    hold: verb(hold),
    limit: verb(limit),
    lines: verb(lines),

    outbox: { read: verb(readOutbox), clear: verb(clearOutbox) },
    ledger: {
      append: verb(append),
      read: verb(read),
      amend: verb(amend),
      count: verb(countEntries),
      trim: verb(trim),
      remove: verb(removeEntries),
    },
    records: { read: verb(readRecords), swap: verb(swap), scan: verb(scan) },
  };
}

function infoOf(state: MemoryState): StoreInfo {
  return {
    name: "memory",
    version: `node ${process.versions.node}`,
    survives: { processKill: false, powerLoss: false, failover: false },
    transactions: false,
    transactionBlocksWriters: false,
    wakeups: "process",
    counts: "exact",
    insertAtomic: "call",
    spawnsElsewhere: "atomic",
    remembersMs: state.remembersMs,
  };
}
