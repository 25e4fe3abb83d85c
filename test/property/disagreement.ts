import assert from "node:assert/strict";

/** A store does not do what the memory store does, or what the seam promises. */
export class Disagreement extends Error {
  override readonly name = "Disagreement";
}

/** `+` is the store's, `-` the memory store's. */
export function mustAgree(actual: unknown, expected: unknown, about: string): void {
  try {
    assert.deepEqual(actual, expected);
  } catch (error) {
    const difference = error instanceof Error ? error.message : String(error);
    throw new Disagreement(
      `${about}\n${difference.replace(/^.*\n/, "(+ store, - memory store)\n")}`,
    );
  }
}
