/** What the server keeps for some seconds is kept no longer because a clock was set back. */
import { describe, expect, it } from "vitest";
import { Tokens } from "@holdfast/server";
import { Holdfast } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { RecentCounts } from "../../packages/server/src/http/recent-counts.ts";
import { OverviewReader } from "../../packages/server/src/overview.ts";

const HOUR_MS = 3_600_000;

describe("a clock that was set back", () => {
  it("keeps no token good that another process has removed", async () => {
    const hf = new Holdfast({ store: memoryStore() }) as Holdfast;
    let at = Date.now();
    const tokens = new Tokens(hf.tools.ledgerRecords, () => at);
    const given = { role: "viewer", queues: null, name: "", createdBy: "us" } as const;
    const { secret, token } = await tokens.create({ ...given, expiresAt: null });
    expect(await tokens.check(secret)).toMatchObject({ id: token.id });
    await new Tokens(hf.tools.ledgerRecords, Date.now).remove(token.id);
    at -= HOUR_MS;
    expect(await tokens.check(secret)).toBeNull();
    expect(await tokens.get(token.id)).toBeNull();
    await hf.close();
  });

  it("does not make the overview stand still", async () => {
    const hf = new Holdfast({ store: memoryStore() }) as Holdfast;
    let at = Date.now();
    const reader = new OverviewReader(hf, () => at);
    await reader.read();
    at -= HOUR_MS;
    await hf.enqueue("mail.send", {}, { queue: "mail" });
    expect((await reader.read()).counts).toMatchObject({ mail: { ready: 1 } });
    await hf.close();
  });

  it("holds nothing against anybody for longer", () => {
    let at = HOUR_MS;
    const counts = new RecentCounts({ withinMs: 60_000, now: () => at });
    counts.add("ada", 5);
    expect(counts.of("ada").count).toBe(1);
    at = 0;
    expect(counts.of("ada").count).toBe(0);
  });
});
