/**
 * The steps of one attempt. A step that is stored, by this attempt or an earlier one, never runs
 * again. Names are unique in a job; steps may run side by side, not inside each other.
 */
import { StepError } from "../../core/errors.ts";
import type { Jsonified } from "../../core/jsonified.ts";
import { decodeJson, encodeJson } from "../../core/json-text.ts";
import type { Attempt } from "./attempt.ts";
import { currentStep, refuseInOpenTransaction, runAsStep } from "./current-attempt.ts";
import type { LeaseKeeper } from "../lease/lease-keeper.ts";

const MAX_STEPS = 1_000;
const MAX_STEPS_BYTES = 1024 * 1024;
/** What a step that returned undefined is stored as: no JSON text is empty. */
const NOTHING = "";

export class Steps {
  readonly #attempt: Attempt;
  readonly #keeper: Pick<LeaseKeeper, "write">;
  readonly #stored = new Map<string, string>();
  /** Called in this attempt. */
  readonly #called = new Set<string>();
  #bytes = 0;

  constructor(attempt: Attempt, keeper: Pick<LeaseKeeper, "write">) {
    this.#attempt = attempt;
    this.#keeper = keeper;
    for (const { name, value } of attempt.job.steps) this.#keep(name, value);
  }

  async run<Value>(name: string, body: () => Promise<Value> | Value): Promise<Jsonified<Value>> {
    this.#check(name);
    if (typeof body !== "function") {
      throw new StepError(
        `step "${name}" needs a function: job.step("${name}", async () => { … })`,
      );
    }
    this.#called.add(name);
    try {
      const json = this.#stored.get(name) ?? (await this.#runOnce(name, body));
      return (json === NOTHING ? undefined : decodeJson(json)) as Jsonified<Value>;
    } catch (error) {
      // A handler may catch this and try the step again.
      this.#called.delete(name);
      throw error;
    }
  }

  #check(name: unknown): void {
    if (typeof name !== "string" || name.length < 1 || name.length > 128) {
      throw new StepError("a step needs a name of 1 to 128 characters");
    }
    const outer = currentStep();
    if (outer !== null) {
      throw new StepError(`step "${name}" is inside step "${outer}": put them one after the other`);
    }
    if (this.#called.has(name)) {
      throw new StepError(`step "${name}" stands twice in this attempt: give each its own name`);
    }
  }

  async #runOnce(name: string, body: () => unknown): Promise<string> {
    refuseInOpenTransaction();
    const value = await runAsStep(this.#attempt, name, body);
    const limits = { what: `step "${name}"`, maxBytes: MAX_STEPS_BYTES };
    const json = value === undefined ? NOTHING : encodeJson(value, limits);
    if (this.#stored.size >= MAX_STEPS || this.#bytes + json.length > MAX_STEPS_BYTES) {
      throw new StepError("a job may have at most 1,000 steps or 1 MiB of their results");
    }
    await this.#keeper.write(this.#attempt, { steps: [{ name, value: json }] });
    this.#keep(name, json);
    return json;
  }

  #keep(name: string, json: string): void {
    this.#stored.set(name, json);
    this.#bytes += json.length;
  }
}
