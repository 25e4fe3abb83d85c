/**
 * Checks one property. A counterexample is made short in two passes: first steps are left out
 * (`leave-out.ts`), then fast-check makes those simpler that are left.
 */
import type { StorePlace } from "../../packages/holdfast/src/testing/conformance/index.ts";
import { describeCounterexample, type Counterexample } from "./counterexample.ts";
import { Draw, type Names } from "./draw.ts";
import { FailedStep } from "./failed-step.ts";
import type { Arbitrary, CheckDetails, CheckOptions, FastCheck } from "./fast-check.ts";
import { leaveOut } from "./leave-out.ts";

export interface Property<T> {
  readonly claim: string;
  readonly names: Names;
  draw(draw: Draw): Arbitrary<T[]>;
  play(steps: readonly T[], place: StorePlace): Promise<void>;
  describe(step: T): Counterexample["steps"];
}

export interface CheckedWith {
  readonly fc: FastCheck;
  place(): Promise<StorePlace>;
  readonly runs: number;
  readonly seed: number;
  readonly command: string;
}

/** How long to look for a shorter counterexample, in each pass. */
const SHRINK_MS = 15_000;

/** Throws a report for people if there is a counterexample. */
export async function checkProperty<T>(property: Property<T>, how: CheckedWith): Promise<void> {
  const { runs, seed, command } = how;
  const found = await check(property, how, { seed, numRuns: runs, endOnFailure: true });
  if (!found.failed) return;
  const fewer = await leaveOut(stepsOf<T>(found), stillFails(property, how));
  const fine = await check(property, how, { seed, numRuns: 1, examples: [[fewer]] });
  // A failure that comes and goes (a race in the store) may not have come again.
  const details = fine.failed ? fine : found;
  const steps = stepsOf<T>(details).flatMap((step) => property.describe(step));
  const trouble = details.errorInstance;
  const at = { claim: property.claim, runs: found.numRuns, seed, command };
  throw new Error(describeCounterexample({ ...at, steps, trouble }));
}

async function check<T>(
  { draw, names, play }: Property<T>,
  { fc, place }: CheckedWith,
  options: CheckOptions,
): Promise<CheckDetails> {
  let giveUpAt = Infinity;
  const claim = fc.asyncProperty(draw(new Draw(fc, names)), async (steps) => {
    // What is left to try passes for shorter no more: the shortest so far is the answer.
    if (performance.now() > giveUpAt) return;
    try {
      await play(steps, await place());
    } catch (error) {
      giveUpAt = Math.min(giveUpAt, performance.now() + SHRINK_MS);
      throw error;
    }
  });
  return fc.check(claim, options);
}

function stillFails<T>(
  { play }: Property<T>,
  { place }: CheckedWith,
): (steps: readonly T[]) => Promise<boolean> {
  const giveUpAt = performance.now() + SHRINK_MS;
  return async (steps) => {
    if (performance.now() > giveUpAt) return false;
    return play(steps, await place()).then(
      () => false,
      () => true,
    );
  };
}

/** Only as far as they were played: what was drawn after that has nothing to do with it. */
function stepsOf<T>({ counterexample, errorInstance }: CheckDetails): T[] {
  const [steps] = counterexample as [T[]];
  return errorInstance instanceof FailedStep ? steps.slice(0, errorInstance.index + 1) : steps;
}
