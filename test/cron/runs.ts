/** How many random cases, and which. `HOLDFAST_PROPERTY_SEED` and `HOLDFAST_PROPERTY_RUNS` draw others. */
import { inTier, type Tier } from "../runner/tier.ts";

export const SEED = Number(process.env["HOLDFAST_PROPERTY_SEED"] ?? 1);

export function runs(of: Readonly<Record<Tier, number>>): number {
  return Number(process.env["HOLDFAST_PROPERTY_RUNS"] ?? inTier(of));
}
