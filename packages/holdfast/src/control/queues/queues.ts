/** Settings of queues, for people. They live in the store, and every process obeys them. */
import { checkName } from "../../core/names.ts";
import { checkObject, checkWhole, refuseUnknown } from "../../core/option-checks.ts";
import type { LimitChange } from "../../core/line.ts";
import { checkWhy } from "../../core/why-options.ts";
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
}

export interface QueueSettingsView {
  readonly queue: string;
  /** What was set here; a status that is not named follows the general rule. */
  readonly keep: KeepRules;
  readonly maxActive: number | null;
  readonly maxActivePerGroup: number | null;
  readonly maxWaiting: number | null;
}

export interface SetOptions {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

const LIMITS = ["maxActive", "maxActivePerGroup", "maxWaiting"] as const;
const MOST = 1_000_000_000;

export class Queues {
  readonly #host: () => Promise<ExtensionHost>;

  /** `host` resolves once the store is open. */
  constructor(host: () => Promise<ExtensionHost>) {
    this.#host = host;
  }

  /** Audited. In force for every process within seconds; limits at once. */
  async set(queue: string, settings: QueueSettingsPatch, options: SetOptions = {}): Promise<void> {
    const name = checkName("queue", queue);
    checkPatch(settings);
    const why = checkWhy("queues.set", options);
    const { keep } = settings;
    const host = await this.#host();
    const limits = LIMITS.filter((limit) => settings[limit] !== undefined);
    if (limits.length > 0) {
      const bounds = Object.fromEntries(limits.map((limit) => [limit, settings[limit]]));
      await host.lines.limit([{ queue: name, group: null, ...bounds } as LimitChange]);
    }
    if (keep !== undefined) await host.settings.keep(name, keep);
    const details = { ...settings };
    await host.audit({ action: "set queue", ...why, details }, { queue: name });
  }

  async get(queue: string): Promise<QueueSettingsView> {
    const name = checkName("queue", queue);
    const host = await this.#host();
    const [keep, { queue: state }] = await Promise.all([
      host.settings.get(name),
      host.lines.lines(name, { limit: 1 }),
    ]);
    return {
      ...{ queue: name, keep, maxActive: state?.maxActive ?? null },
      maxActivePerGroup: state?.maxActivePerGroup ?? null,
      maxWaiting: state?.maxWaiting ?? null,
    };
  }
}

function checkPatch(settings: QueueSettingsPatch): void {
  checkObject("queues.set", settings);
  refuseUnknown("queues.set", settings, ["keep", ...LIMITS]);
  const { keep } = settings;
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
