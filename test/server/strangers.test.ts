/** What a flood of refusals costs the audit. */
import { expect, it } from "vitest";
import { Holdfast, type Logger } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { AuditDesk } from "../../packages/server/src/audit-desk.ts";

it("the audit has so many entries of strangers in a minute, however many addresses they have", async () => {
  const hf = new Holdfast({ store: memoryStore() }) as Holdfast;
  const logger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
  const desk = new AuditDesk(hf, logger);
  const note = { action: "refused POST /x", state: "refused" } as const;
  for (let at = 0; at < 1_000; at += 1) {
    desk.gather({ caller: null, address: `10.0.${at >> 8}.${at & 255}` }, note);
  }
  // One household is one stranger.
  for (let at = 1; at < 100; at += 1) {
    desk.gather({ caller: null, address: `2001:db8::${at}` }, note);
  }
  await desk.close();
  const { entries } = await hf.ledger({ kind: "audit", limit: 200 });
  expect(entries.length).toBeLessThanOrEqual(102);
  const counts = entries.map(({ body }) => {
    const { by, details } = body as { by: string; details: { count?: number } };
    return [by, details.count ?? 1] as const;
  });
  expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(1_099);
  expect(counts.filter(([by]) => by === "unknown at many addresses")).toHaveLength(2);
  await hf.close();
});
