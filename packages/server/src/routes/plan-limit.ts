/** At most five plans or starts in thirty seconds for one caller: each looks through many jobs. */
import { tooMany } from "../http/http-error.ts";
import type { Call } from "./route.ts";

const MOST_PLANS = 5;

export function countPlan({
  services,
  caller,
  address,
}: Pick<Call, "services" | "caller" | "address">): void {
  const key = caller.via === "anonymous" ? address : caller.key;
  const { count, freeInMs } = services.plans.of(key);
  if (count >= MOST_PLANS) {
    throw tooMany("too_many_plans", "at most 5 plans or starts in 30 seconds", freeInMs);
  }
  services.plans.add(key, MOST_PLANS + 1);
}
