/**
 * The conformance suite: what the seam (`Store`) promises, as scenarios that every store must pass.
 * A store's own test file calls it in about ten lines.
 *
 * ```ts
 * import { describe, it } from "vitest";
 * import { storeConformance } from "holdfast/conformance";
 *
 * storeConformance({ describe, it, place: async () => ({ open, advance, dispose }) });
 * ```
 */
import { checkFunction, checkOptions } from "../../core/option-checks.ts";
import { adopt } from "./adopt.ts";
import { attempts } from "./attempts.ts";
import { cancel } from "./cancel.ts";
import { clock } from "./clock.ts";
import { count } from "./count.ts";
import { deadCounts } from "./dead-counts.ts";
import { disown } from "./disown.ts";
import { fairness } from "./fairness.ts";
import { find } from "./find.ts";
import { get } from "./get.ts";
import { hold } from "./hold.ts";
import { insert } from "./insert.ts";
import { keys } from "./keys.ts";
import { laws } from "./laws.ts";
import { lease } from "./lease.ts";
import { ledger } from "./ledger.ts";
import { life } from "./life.ts";
import { limit } from "./limit.ts";
import { lines } from "./lines.ts";
import { outbox } from "./outbox.ts";
import { prune } from "./prune.ts";
import { races } from "./races.ts";
import { reapRaces } from "./reap-races.ts";
import { reap } from "./reap.ts";
import { records } from "./records.ts";
import { remove } from "./remove.ts";
import { renew } from "./renew.ts";
import { repeat } from "./repeat.ts";
import { reschedule } from "./reschedule.ts";
import { revive } from "./revive.ts";
import { updates } from "./updates.ts";
import type { Chapter, StorePlace } from "./scenario.ts";
import { play } from "./scenario.ts";
import { settle } from "./settle.ts";
import { spawn } from "./spawn.ts";
import { text } from "./text.ts";
import { wakeup } from "./wakeup.ts";
import { within } from "./within.ts";

export type { CallersTransaction, StorePlace } from "./scenario.ts";

export interface ConformanceOptions {
  /** From vitest, jest, mocha, node:test: only these two words are used. */
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
  /** A fresh, empty place for jobs, for each scenario. */
  place(): Promise<StorePlace>;
  /** The store has `within`, and its places have `transaction`. A law checks that this is so. */
  readonly transactions?: boolean;
  /** The places have `rewind`: the store lives by a clock that somebody can set back. */
  readonly rewinds?: boolean;
  /** Declared differences. Each is printed with its reason; a name that is no scenario is an error. */
  readonly skip?: readonly { readonly reason: string; readonly tests: readonly string[] }[];
}

const OPTIONS = ["describe", "it", "place", "transactions", "rewinds", "skip"];
const EVERYWHERE: readonly Chapter[] = [
  laws,
  life,
  wakeup,
  insert,
  keys,
  adopt,
  lease,
  fairness,
  attempts,
  renew,
  updates,
  settle,
  repeat,
  spawn,
  reap,
  disown,
  cancel,
  revive,
  reschedule,
  remove,
  prune,
  get,
  find,
  count,
  deadCounts,
  hold,
  limit,
  lines,
  outbox,
  ledger,
  records,
  text,
  races,
  reapRaces,
];

export function storeConformance(options: ConformanceOptions): void {
  checkOptions("storeConformance", options, OPTIONS);
  for (const name of ["describe", "it", "place"] as const) checkFunction(name, options[name]);
  const declared = {
    transactions: options.transactions ?? false,
    rewinds: options.rewinds ?? false,
  };
  const chapters = [
    ...EVERYWHERE,
    ...(declared.transactions ? [within] : []),
    ...(declared.rewinds ? [clock] : []),
  ];
  const skipped = skippedTests(options, chapters);
  for (const { title, scenarios } of chapters) {
    options.describe(title, () => {
      for (const [name, scenario] of Object.entries(scenarios)) {
        const reason = skipped.get(name);
        if (reason === undefined) {
          options.it(name, async () => play(scenario, await options.place(), declared));
        } else {
          console.info(`not run: ${title}: ${name} (${reason})`);
        }
      }
    });
  }
}

/** By name; a misspelt or outdated name would hide nothing and say that it did, so it throws. */
function skippedTests(
  options: ConformanceOptions,
  chapters: readonly Chapter[],
): ReadonlyMap<string, string> {
  const names = new Set<string>();
  for (const name of chapters.flatMap(({ scenarios }) => Object.keys(scenarios))) {
    if (names.has(name)) throw new Error(`two scenarios are called "${name}"`);
    names.add(name);
  }
  const skipped = new Map<string, string>();
  for (const { reason, tests } of options.skip ?? []) {
    for (const name of tests) {
      if (!names.has(name)) throw new Error(`no scenario is called "${name}"`);
      skipped.set(name, reason);
    }
  }
  return skipped;
}
