/** Errors that a test has in store for the next runs of a type. */
import type { Extension } from "../engine/extension.ts";

export class NextFailures {
  readonly #errors = new Map<string, unknown[]>();

  add(type: string, error: unknown): void {
    this.#errors.set(type, [...(this.#errors.get(type) ?? []), error]);
  }

  /** Its handler is not called: what it would have done must not have happened. */
  readonly extension: Extension = {
    name: "failures of a test",
    around: async ({ type }, next) => {
      const errors = this.#errors.get(type);
      if (errors === undefined || errors.length === 0) return next();
      throw errors.shift();
    },
  };
}
