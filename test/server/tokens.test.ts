import { Tokens } from "@holdfast/server";
import { Holdfast } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { expect, it } from "vitest";

it("all tokens are listed, however many there are", async () => {
  const hf = new Holdfast({ store: memoryStore() }) as Holdfast;
  const tokens = new Tokens(hf.tools.ledgerRecords, Date.now);
  const given = { role: "viewer", queues: null, name: "", createdBy: "us" } as const;
  for (let made = 0; made < 1_001; made += 1) await tokens.create({ ...given, expiresAt: null });
  expect(await tokens.list()).toHaveLength(1_001);
  await hf.close();
});
