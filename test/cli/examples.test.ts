/** Every example that a help text shows is a command that works. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands/all-commands.ts";
import { Holdfast } from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
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

/** Is the part of the library, or the package, there that a command is about? */
async function hasPart(part: string): Promise<boolean> {
  if (part === "server") {
    const server = "@holdfast/server";
    return import(server).then(
      () => true,
      () => false,
    );
  }
  const hf = new Holdfast({ store: memoryStore() });
  await hf.close();
  return part in hf;
}

for (const { name, examples, needs } of COMMANDS) {
  describe(`holdfast ${name}`, () => {
    it("shows its examples in its help", async () => {
      const { code, out } = await seed.run([...name.split(" "), "--help"]);
      expect(code).toBe(0);
      expect(out).toContain("Examples:\n  holdfast ");
    });

    for (const example of examples) {
      it(example, async (context) => {
        const isThere = needs === undefined || (await hasPart(needs));
        context.skip(!isThere, `there is no ${needs ?? ""} here yet`);
        const terminal = await Terminal.open();
        const file = useSeed(seed.folder, terminal.folder);
        const living = /\{(worker|operation)\}/.test(example) ? holdfastOn(file) : null;
        try {
          const worker = example.includes("{worker}")
            ? await living?.work({ queues: ["elsewhere"] })
            : null;
          const operation = example.includes("{operation}")
            ? await operationIn(living as Holdfast, name === "ops resume")
            : "";
          mkdirSync(join(terminal.folder, "empty"));
          const line = example
            .replace("{fingerprint}", FINGERPRINT)
            .replace("{worker}", worker?.id ?? "")
            .replace("{operation}", operation)
            .replace("{empty}", "empty");
          const ran = await terminal.run(wordsOf(line), {
            stopWhen: (written) => /(work|serve):start/.test(written),
            columns: name === "top" ? 100 : null,
            keys: ["q"],
          });
          expect(ran, ran.err).toMatchObject({ code: 0 });
          expect(ran.out).not.toBe("");
        } finally {
          await living?.close({ graceMs: 0 });
          await terminal.close();
        }
      });
    }
  });
}
