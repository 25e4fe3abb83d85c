/** From what was filled in to what the server takes. What the form does not show stays as it is. */
import type { Gate } from "../../api/types.ts";
import { parseDuration } from "../../text/times.ts";

export type Filled = Readonly<Record<string, string>>;
export type GateBefore = Pick<Gate, "targets" | "rate" | "breaker" | "countsAsDown" | "cooldown">;

export function gateBody(filled: Filled, before: GateBefore | null) {
  const { queues = "", per, cooldown } = filled;
  const rates = ratesOf(filled, before);
  const breaker = breakerOf(filled, before);
  return {
    queue: [...new Set(queues.split(/[\s,]+/).filter(Boolean))].flatMap((queue) =>
      targetsOf(queue, before),
    ),
    ...(per === "group" && { per: "group" }),
    ...(rates.length > 0 && { rate: rates }),
    ...(breaker !== null && { breaker }),
    ...(cooldown === "yes" && { cooldown: before?.cooldown ?? true }),
  };
}

/** A gate may hold several groups of one queue: the form names the queue once, and means all of them. */
function targetsOf(queue: string, before: GateBefore | null) {
  const known = (before?.targets ?? []).filter((one) => one.queue === queue);
  if (known.length === 0) return [queue];
  return known.map(({ group }) => (group === null ? queue : { queue, group }));
}

function ratesOf({ limit = "", perMs = "", burst = "" }: Filled, before: GateBefore | null) {
  const others = before?.rate.slice(1) ?? [];
  if (limit === "") return others;
  const first = {
    ...{ limit: Number(limit), perMs: parseDuration(perMs) ?? 1_000 },
    ...(burst !== "" && { burst: Number(burst) }),
  };
  return [first, ...others];
}

function breakerOf(
  { failures = "", withinMs = "", openMs = "" }: Filled,
  before: GateBefore | null,
) {
  if (failures === "") return null;
  return {
    ...{ failures: Number(failures), withinMs: parseDuration(withinMs) ?? 60_000 },
    openMs: parseDuration(openMs) ?? 30_000,
    ...(before?.breaker && { probes: before.breaker.probes, countsAsDown: before.countsAsDown }),
  };
}
