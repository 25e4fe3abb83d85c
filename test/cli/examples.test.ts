/** Every example that a help text shows is a command that works. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands/all-commands.ts";
import { ensureHubSpot, HubSpotClient } from "../../packages/crm/src/index.ts";
import { hubspotDouble } from "../../packages/crm/src/double/index.ts";
import type { Holdfast } from "../../packages/holdfast/src/index.ts";
import { Pacing } from "../../packages/pacing/src/index.ts";
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
const FILL_IN: Readonly<
  Record<string, (hf: Holdfast, command: string, folder: string) => Promise<string>>
> = {
  async customers(_hf, _command, folder) {
    writeFileSync(join(folder, "customers.csv"), "email,name\nann@example.com,Ann\n");
    return "customers.csv";
  },
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
  async simulation(hf, command) {
    const pacing = new Pacing(hf);
    await pacing.create({ id: "load", records: 20, durationMs: 3_600_000 });
    await pacing.start("load");
    if (command === "sim resume") await pacing.pause("load");
    return "load";
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

/** A portal in which a check finds everything, and one in which there is something to make. */
async function localHubSpot(command: string) {
  const double = await hubspotDouble();
  const { token, url } = double;
  if (command === "crm check") await ensureHubSpot(new HubSpotClient({ token, baseUrl: url }));
  return { env: { HUBSPOT_TOKEN: token, HUBSPOT_URL: url }, close: () => double.close() };
}

for (const { name, examples, needs } of COMMANDS) {
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
        const hubspot = needs === "crm" ? await localHubSpot(name) : null;
        try {
          mkdirSync(join(terminal.folder, "empty"));
          let line = example;
          for (const [, word = ""] of example.matchAll(/\{([a-z]+)\}/g)) {
            line = line.replace(
              `{${word}}`,
              (await FILL_IN[word]?.(hf, name, terminal.folder)) ?? "",
            );
          }
          const ran = await terminal.run(wordsOf(line), {
            stopWhen: (written) => /(work|serve):start/.test(written),
            columns: name === "top" ? 100 : null,
            keys: ["q"],
            ...(hubspot && { env: hubspot.env }),
          });
          expect(ran, ran.err).toMatchObject({ code: 0 });
          expect(ran.out).not.toBe("");
        } finally {
          await hf.close({ graceMs: 0 });
          await terminal.close();
          await hubspot?.close();
        }
      });
    }
  });
}
