/** A few commands as processes of their own: signals, the bin of the library, the answer of a shell. */
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startCli } from "./real-process.ts";
import { Terminal } from "./terminal.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
let terminal: Terminal;
beforeEach(async () => {
  terminal = await Terminal.open();
});
afterEach(() => terminal?.close());

/** As after `npm install holdfast @holdfast/cli`. */
function link(...names: readonly ("holdfast" | "cli")[]): void {
  const modules = join(terminal.folder, "node_modules");
  mkdirSync(join(modules, "@holdfast"), { recursive: true });
  for (const name of names) {
    const to = name === "cli" ? join(modules, "@holdfast/cli") : join(modules, name);
    symlinkSync(join(root, "packages", name), to);
  }
}

it("a newcomer gets from init to a job that ran, and SIGTERM ends the worker cleanly", async () => {
  link("holdfast", "cli");
  writeFileSync(join(terminal.folder, "package.json"), '{ "private": true, "type": "module" }');
  expect((await terminal.run(["init"], { answers: [""] })).code).toBe(0);
  const worker = startCli(["work"], terminal.folder);
  await worker.wrote("work:start");
  const { ended } = startCli(["enqueue", "hello.say", '{"name":"Ann"}', "--wait"], terminal.folder);
  expect(await ended).toMatchObject({ code: 0, out: 'succeeded "Hello Ann"\n' });
  worker.child.kill("SIGTERM");
  const { code, out } = await worker.ended;
  expect(code).toBe(0);
  expect(out).toContain("work:end");
});

it("the bin of the library runs the command line, or says how to get it", () => {
  const bin = join(root, "packages/holdfast/src/bin.ts");
  const start = () =>
    spawnSync(process.execPath, ["--conditions=@holdfast/source", bin, "version"], {
      ...{ cwd: terminal.folder, encoding: "utf8" },
    });
  link("holdfast", "cli");
  expect(start()).toMatchObject({ status: 0, stdout: expect.stringContaining("holdfast  0.1.0") });
});
