/** Settings of queues, for people. They live in the store, and every process obeys them. */
import { checkName } from "../../core/names.ts";
import {
  checkObject,
  checkOneOf,
  checkWhole,
  MAX_DURATION_MS,
  refuseUnknown,
} from "../../core/option-checks.ts";
import type { LimitChange } from "../../core/line.ts";
import { MAX_SHARDS } from "../../core/shards.ts";
import type { Shards } from "../shards/shards.ts";
import { checkWhy } from "../../core/why-options.ts";
import { OVERFLOWS, type Overflow, type Overflows } from "../overflow/overflow.ts";
import { policiesOf, type ExtensionHost, type KeepRules } from "../../engine/extension.ts";

/** Absent leaves as it is, null clears. */
export interface QueueSettingsPatch {
  /**
   * How long finished jobs of this queue are kept, by status; null for a status keeps for ever. Null in all:
   * the queue follows the general rule again.
   */
  readonly keep?: KeepRules | null | undefined;
  /** Most jobs running at once. */
  readonly maxActive?: number | null | undefined;
  /** Most jobs of one group running at once. */
  readonly maxActivePerGroup?: number | null | undefined;
  /** An enqueue beyond this many waiting jobs is refused. */
  readonly maxWaiting?: number | null | undefined;
  /**
   * A new job while as many run, or are ready to, as `maxActive` or `maxActivePerGroup` let run: it waits (`"wait"`,
   * the default), its enqueue is refused (`"reject"`), or the one that has run longest is asked to stop for it.
   * Looked at before the enqueue: of two at the same moment both may find room. Not asked in `hf.within`.
   */
  readonly overflow?: Overflow | null | undefined;
  /**
   * In so many parts, `<queue>:0` and so on: new jobs go to one of them by their group, else their key. Null: new jobs go
   * under the plain name again. What waits stays where it is.
   */
  readonly shards?: number | null | undefined;
  /**
   * How much waiting counts as one step of priority, so that a low priority is late, never lost. Null: waiting
   * does not count; jobs that wait already keep their places. At least 1,000.
   */
  readonly agingMs?: number | null | undefined;
}

export interface QueueSettingsView {
  readonly queue: string;
  /** What was set here; a status that is not named follows the general rule. */
  readonly keep: KeepRules;
  readonly maxActive: number | null;
  readonly maxActivePerGroup: number | null;
  readonly maxWaiting: number | null;
  readonly overflow: Overflow;
  readonly agingMs: number | null;
  /** There only if it has some. */
  readonly shards?: number;
}

export interface SetOptions {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

const LIMITS = ["maxActive", "maxActivePerGroup", "maxWaiting"] as const;
const MOST = 1_000_000_000;
/** Each step is another place in line: finer ones would tell apart what no person does. */
const LEAST_AGING_MS = 1_000;

export class Queues {
  readonly #host: () => Promise<ExtensionHost>;
  readonly #overflows: Overflows;
  readonly #shards: Shards;

  /** `host` resolves once the store is open. */
  constructor(host: () => Promise<ExtensionHost>, overflows: Overflows, shards: Shards) {
    this.#host = host;
    this.#overflows = overflows;
    this.#shards = shards;
  }

  /** Audited. In force for every process within seconds; limits at once. */
  async set(queue: string, settings: QueueSettingsPatch, options: SetOptions = {}): Promise<void> {
    const name = checkName("queue", queue);
    checkPatch(settings);
    const why = checkWhy("queues.set", options);
    const { keep, overflow, shards, agingMs } = settings;
    const host = await this.#host();
    if (shards !== undefined) await this.#shards.set(name, shards);
    // Of a sharded queue they are those of each part.
    await this.#shards.read();
    const parts = this.#shards.names(name);
    const limits = LIMITS.filter((limit) => settings[limit] !== undefined);
    if (limits.length > 0) {
      const bounds = Object.fromEntries(limits.map((limit) => [limit, settings[limit]]));
      const changes = parts.map((queue) => ({ queue, group: null, ...bounds }) as LimitChange);
      await host.lines.limit(changes);
    }
    if (overflow !== undefined) await this.#overflows.set(name, overflow ?? "wait");
    for (const part of parts) {
      if (keep !== undefined) await host.settings.keep(part, keep);
      if (agingMs !== undefined) await host.aging.set(part, agingMs);
    }
    if (agingMs !== undefined) await host.workers.announceChange();
    const details = { ...settings };
    await host.audit({ action: "set queue", ...why, details }, { queue: name });
  }

  async get(queue: string): Promise<QueueSettingsView> {
    const name = checkName("queue", queue);
    const host = await this.#host();
    const [overflow, , agingMs, keep, { queue: state }] = await Promise.all([
      this.#overflows.of(name),
      this.#shards.read(),
      host.aging.of(name),
      host.settings.get(name),
      host.lines.lines(name, { limit: 1 }),
    ]);
    const shards = this.#shards.of(name);
    return {
      ...{ queue: name, keep, maxActive: state?.maxActive ?? null },
      maxActivePerGroup: state?.maxActivePerGroup ?? null,
      ...{ maxWaiting: state?.maxWaiting ?? null, overflow, agingMs },
      ...(shards !== null && { shards }),
    };
  }
}

function checkPatch(settings: QueueSettingsPatch): void {
  checkObject("queues.set", settings);
  refuseUnknown("queues.set", settings, ["keep", "overflow", "shards", "agingMs", ...LIMITS]);
  const { keep, overflow, shards, agingMs } = settings;
  if (shards !== undefined && shards !== null) {
    checkWhole("shards", shards, { min: 1, max: MAX_SHARDS });
  }
  if (agingMs !== undefined && agingMs !== null) {
    checkWhole("agingMs", agingMs, { min: LEAST_AGING_MS, max: MAX_DURATION_MS });
  }
  if (overflow !== undefined && overflow !== null) checkOneOf("overflow", overflow, OVERFLOWS);
  if (keep !== undefined && keep !== null) {
    checkObject("keep", keep);
    refuseUnknown("keep", keep, ["succeeded", "dead", "cancelled"]);
    policiesOf(null, keep);
  }
  for (const limit of LIMITS) {
    const value = settings[limit];
    if (value !== undefined && value !== null) checkWhole(limit, value, { min: 0, max: MOST });
  }
}
