/**
 * After an outage nobody may reap before it has been in touch with the store for one lease length:
 * the holders of all those old leases are alive and about to renew. An outage of less than half a
 * lease may have passed unnoticed, so it proves nothing.
 */
import type { Evidence, Finding } from "./evidence.ts";

export function judgeReaping({ lines, outages, leaseMs }: Evidence): readonly Finding[] {
  const findings: Finding[] = [];
  const long = outages
    .flatMap((outage) => outage.slots ?? [outage])
    .filter(({ from, healingAt }) => healingAt - from > leaseMs / 2);
  for (const line of lines) {
    if (line.what !== "reaped") continue;
    const { askedAt, by, jobs } = line;
    for (const { from, healingAt } of long) {
      if (askedAt < from + leaseMs / 2 || askedAt >= healingAt + leaseMs) continue;
      const text = `${by} reaped ${jobs.length} jobs ${Math.round(askedAt - healingAt)} ms after an outage`;
      findings.push({ rule: "reaped too soon", text });
    }
  }
  return findings;
}
