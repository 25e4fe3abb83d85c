/**
 * `Holdfast` as users import it. To make one it is the class, whose types follow from its options; as the
 * type of a parameter, `function app(hf: Holdfast)`, it takes every instance, whatever its `jobs` and
 * `resilient`. The defaults of one class cannot say both.
 */
import type { AnyContract } from "./engine/typed-jobs.ts";
import type { Resilience } from "./holdfast-options.ts";
import { Holdfast as HoldfastClass } from "./holdfast.ts";

export const Holdfast: typeof HoldfastClass = HoldfastClass;

export type Holdfast<
  // oxlint-disable-next-line typescript/no-explicit-any -- any contracts: an instance with some must fit
  Jobs extends readonly AnyContract[] = any,
  How extends Resilience | undefined = Resilience | undefined,
> = HoldfastClass<Jobs, How>;
