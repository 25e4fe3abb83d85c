/** Plans of replays that have a name, so that the same can be planned again tomorrow. */
import { InvalidOptionError, PresetNotFoundError } from "../../core/errors.ts";
import { checkName } from "../../core/names.ts";
import { checkObject } from "../../core/option-checks.ts";
import { putRecord } from "../../core/put-record.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import { checkChoice, CHOICE, type Plan } from "../operations/plan-jobs.ts";
import { checkDeadFilter } from "./dead-filter.ts";
import type { DeadPlanOptions } from "./dead-letters.ts";

const PRESETS = "holdfast/presets/";
const PAGE = 200;

/** Dates are of the day they were saved: a preset that is planned every night has none. */
export type PresetOptions = Omit<DeadPlanOptions, "from" | "to">;

export class Presets {
  readonly #host: () => Promise<ExtensionHost>;
  readonly #plan: (options: DeadPlanOptions) => Promise<Plan>;

  constructor(
    host: () => Promise<ExtensionHost>,
    plan: (options: DeadPlanOptions) => Promise<Plan>,
  ) {
    this.#host = host;
    this.#plan = plan;
  }

  /** Replaces one of the same name. */
  async save(name: string, options: PresetOptions): Promise<void> {
    const key = PRESETS + checkName("preset", name);
    checkObject("presets.save", options);
    if ("from" in options || "to" in options) {
      throw new InvalidOptionError("a preset has no dates: give from and to to deadLetters.plan");
    }
    const { strategy, limit, perCategory, seed, ...filter } = options;
    checkDeadFilter("presets.save", filter, CHOICE);
    // Judged now: who plans it is a night shift that wrote none of it.
    checkChoice({ strategy, limit, perCategory, seed });
    const { records } = await this.#host();
    await putRecord(records, key, { value: JSON.stringify(options), ttlMs: null });
  }

  /** By name. */
  async list(): Promise<readonly { readonly name: string; readonly options: PresetOptions }[]> {
    const { records } = await this.#host();
    const all: { readonly name: string; readonly options: PresetOptions }[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof records.scan>> = await records.scan({
        ...{ prefix: PRESETS, limit: PAGE, cursor },
      });
      for (const { key, value } of page.records) {
        all.push({ name: key.slice(PRESETS.length), options: JSON.parse(value) as PresetOptions });
      }
      cursor = page.nextCursor;
    } while (cursor !== null);
    return all;
  }

  async remove(name: string): Promise<void> {
    const { records } = await this.#host();
    const key = PRESETS + checkName("preset", name);
    await putRecord(records, key, { value: null, ttlMs: null });
  }

  async plan(name: string): Promise<Plan> {
    const { records } = await this.#host();
    const [found] = await records.read([PRESETS + checkName("preset", name)]);
    if (!found) {
      throw new PresetNotFoundError(
        `there is no preset ${name}: presets.list() has those that are`,
      );
    }
    return this.#plan(JSON.parse(found.value) as PresetOptions);
  }
}
