/**
 * Random sequences: whatever is done to a store, one call after another, it answers what the memory
 * store answers, and in the end everything that can be seen of the two is the same.
 *
 * The calls go through two Store objects on the same data, and now and then one of them is closed and
 * opened again: what a store knows must be in its data, not in the object.
 */
import type { StorePlace } from "../../packages/holdfast/src/testing/conformance/index.ts";
import { drawAnyOperation } from "./draw-operations.ts";
import type { Draw } from "./draw.ts";
import { FailedStep } from "./failed-step.ts";
import type { Arbitrary } from "./fast-check.ts";
import { Names } from "./names.ts";
import type { Operation } from "./operation.ts";
import { Oracle } from "./oracle.ts";
import { Subject } from "./subject.ts";

export interface Step {
  readonly caller: number;
  readonly operation: Operation;
}

const LONGEST = 120;

export function drawSequence(draw: Draw): Arbitrary<Step[]> {
  const step = draw.record<Step>({
    caller: draw.from([0, 1]),
    operation: drawAnyOperation(draw),
  });
  return draw.fc.array(step, { minLength: 1, maxLength: LONGEST, size: "max" });
}

export async function playSequence(steps: readonly Step[], place: StorePlace): Promise<void> {
  const subject = await Subject.open(place);
  try {
    const { now, info } = subject;
    const oracle = await Oracle.open({ now, info, alone: true });
    const names = new Names();
    for (const [index, { caller, operation }] of steps.entries()) {
      await FailedStep.at(index, async () => {
        for (const resolved of names.resolve([operation])) {
          const done = await subject.perform(resolved, caller);
          await oracle.follow([done]);
          done.learn(subject.book);
        }
      });
    }
    await FailedStep.at(steps.length - 1, async () => oracle.mustLookLike(await subject.dump()));
  } finally {
    await subject.close();
  }
}
