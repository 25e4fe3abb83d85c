/** Every example that a help text shows is a command that works. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands/all-commands.ts";
import type { Holdfast } from "../../packages/holdfast/src/index.ts";
import { Tokens } from "../../packages/server/src/index.ts";
import { serverUrl } from "../servers/server-desk.ts";
import { FINGERPRINT, holdfastOn, makeSeed, useSeed } from "./seeded-store.ts";
import { Terminal } from "./terminal.ts";

let seed: Terminal;
beforeAll(async () => {
  seed = await Terminal.open();
  await makeSeed(seed.folder);
});
afterAll(() => seed?.close());

/** As a shell takes a line apart. */
function wordsOf(line: string): string[] {
  const words = line.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  return words.map((word) => word.replace(/^(['"])(.*)\1$/, "$2"));
}

async function operationIn(hf: Holdfast, isPaused: boolean): Promise<string> {
  const plan = await hf.operations.plan({
    action: "cancel",
    filter: { queue: "mail", tag: "beta" },
  });
  const operation = await plan.start({ by: "ann" });
  if (isPaused) await operation.pause();
  return operation.id;
}

/** What a person fills in, made for real. */
const FILL_IN: Readonly<Record<string, (hf: Holdfast, command: string) => Promise<string>>> = {
  fingerprint: async () => FINGERPRINT,
  empty: async () => "empty",
  redis: () => serverUrl("redis"),
  worker: async (hf) => (await hf.work({ queues: ["elsewhere"] })).id,
  async token(hf) {
    const given = { role: "viewer", queues: null, name: "t", createdBy: "ann" } as const;
    const tokens = new Tokens(hf.tools.ledgerRecords, Date.now);
    return (await tokens.create({ ...given, expiresAt: null })).token.id;
  },
  operation: (hf, command) => operationIn(hf, command === "ops resume"),
  async schedule(hf, command) {
    const job = { type: "email.send", payload: null, queue: "mail" };
    await hf.schedules.set("nightly", { cron: "0 3 * * *", job });
    if (command === "schedules resume") await hf.schedules.pause("nightly");
    return "nightly";
  },
  async preset(hf) {
    await hf.deadLetters.presets.save("nightly", { category: "network" });
    return "nightly";
  },
  async gate(hf) {
    await hf.gates.set("hubspot", { queue: "mail", cooldown: true });
    return "hubspot";
  },
  async lock(hf) {
    const locked = { type: "locked", queue: "locked", lock: { key: "k", scope: () => "s" } };
    const once = hf.define({ ...locked, run: () => {} } as never) as unknown as {
      enqueue(payload: unknown): Promise<{ readonly id: string }>;
    };
    await hf.work({ queues: ["locked"] });
    const { id } = await once.enqueue({ companyId: "ann" });
    await hf.waitFor(id);
    const { locks } = await hf.locks.list();
    return locks[0]?.id ?? "none";
  },
};

for (const { name, examples } of COMMANDS) {
  describe(`holdfast ${name}`, () => {
    it("shows its examples in its help", async () => {
      const { code, out } = await seed.run([...name.split(" "), "--help"]);
      expect(code).toBe(0);
      expect(out).toContain("Examples:\n  holdfast ");
    });

    for (const example of examples) {
      it(example, async () => {
        const terminal = await Terminal.open();
        const file = useSeed(seed.folder, terminal.folder);
        const hf = holdfastOn(file);
        try {
          mkdirSync(join(terminal.folder, "empty"));
          let line = example;
          for (const [, word = ""] of example.matchAll(/\{([a-z]+)\}/g)) {
            line = line.replace(`{${word}}`, (await FILL_IN[word]?.(hf, name)) ?? "");
          }
          const ran = await terminal.run(wordsOf(line), {
            stopWhen: (written) => /(work|serve):start/.test(written),
            columns: name === "top" ? 100 : null,
            keys: ["q"],
          });
          expect(ran, ran.err).toMatchObject({ code: 0 });
          expect(ran.out).not.toBe("");
        } finally {
          await hf.close({ graceMs: 0 });
          await terminal.close();
        }
      });
    }
  });
}
