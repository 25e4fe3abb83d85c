import { describe, expect, it } from "vitest";
import { Holdfast } from "./any-holdfast.ts";
import type { AuditBody } from "./core/ledger.ts";
import { memoryStore } from "./stores/memory/index.ts";

describe("tools", () => {
  it("whatever is done on behalf of an actor is noted as its deed", async () => {
    const hf = new Holdfast({ store: memoryStore() });
    await hf.tools.as({ by: "token 7", details: { role: "operator" } }, async () => {
      await hf.pause("mail", { by: "a forged name" });
      await hf.resume("mail");
    });
    await hf.limit("mail", { maxActive: 1 });
    const { entries } = await hf.ledger({ kind: "audit" });
    const said = entries.map(({ body }) => body as AuditBody);
    expect(said.map(({ action, by }) => [action, by]).toSorted()).toEqual([
      ...[
        ["limit", null],
        ["pause", "token 7"],
        ["resume", "token 7"],
      ],
    ]);
    expect(said.find(({ action }) => action === "pause")?.details).toMatchObject({
      via: { role: "operator" },
    });
    await hf.close();
  });

  it("records stand beside the ledger, wherever it is", async () => {
    const ledger = memoryStore();
    const hf = new Holdfast({ store: memoryStore(), ledger });
    const swap = { key: "mine/1", expect: null, value: "1", ttlMs: null };
    expect(await hf.tools.ledgerRecords.swap([swap])).toMatchObject([{ swapped: true }]);
    expect(await ledger.records.read(["mine/1"])).toMatchObject([{ value: "1" }]);
    await hf.close();
    const without = new Holdfast({ store: memoryStore(), ledger: false });
    await without.tools.ledgerRecords.swap([swap]);
    const { records } = await without.tools.ledgerRecords.scan({ prefix: "mine/", limit: 10 });
    expect(records).toMatchObject([{ key: "mine/1" }]);
    await without.close();
  });

  it("it knows types, redacts and asks the store", async () => {
    const hf = new Holdfast({ store: memoryStore(), redact: { keys: ["iban"] } });
    hf.define({ type: "mail.send", queue: "mail", run: async () => null });
    expect(hf.tools.types()).toMatchObject([{ type: "mail.send", queue: "mail", isHandled: true }]);
    expect(hf.tools.redact.value({ iban: "x", a: 1 })).toEqual({ iban: "[REDACTED]", a: 1 });
    expect(await hf.tools.ping()).toBeInstanceOf(Date);
    await hf.tools.audit({ action: "look", state: "refused", queue: "mail", reason: "why not" });
    const { entries } = await hf.ledger({ kind: "audit", state: "refused" });
    expect(entries).toMatchObject([{ queue: "mail", body: { action: "look", reason: "why not" } }]);
    await hf.close();
  });

  it("an actor that is none is refused", () => {
    const hf = new Holdfast({ store: memoryStore() });
    expect(() => hf.tools.as({ by: "x", roll: 1 } as never, () => 1)).toThrow(/roll/);
  });
});
