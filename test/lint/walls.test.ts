/**
 * The lint walls of `.oxlintrc.json`, shown to bite: small offending files are laid out like the real
 * tree in a temporary folder and linted there with the real configuration.
 */
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** One line of code per file, and the rule that must refuse it; null: it must pass. */
const WALLS: readonly { claim: string; file: string; code: string; rule: string | null }[] = [
  wall("core does not import node:*", "packages/holdfast/src/core/a.ts", `import "node:fs";`),
  wall("core does not import a package", "packages/holdfast/src/core/b.ts", `import "zod";`),
  wall(
    "core does not import the engine",
    "packages/holdfast/src/core/c.ts",
    `import "../engine/worker.ts";`,
  ),
  wall(
    "core does not import a store",
    "packages/holdfast/src/core/d.ts",
    `import "../stores/memory/index.ts";`,
  ),
  wall(
    "core does not import a type",
    "packages/holdfast/src/core/e.ts",
    `import type {} from "../engine/worker.ts";`,
  ),
  wall(
    "core does not re-export",
    "packages/holdfast/src/core/f.ts",
    `export * from "../testing/index.ts";`,
  ),
  wall(
    "core does not import the entry",
    "packages/holdfast/src/core/g.ts",
    `import "../index.ts";`,
  ),
  open("core imports core", "packages/holdfast/src/core/h.ts", `import "./job.ts";`),
  open(
    "a test in core imports what it likes",
    "packages/holdfast/src/core/i.test.ts",
    `import "node:fs";`,
  ),

  wall(
    "the server does not import a store",
    "packages/server/src/a.ts",
    `import "holdfast/sqlite";`,
  ),
  wall(
    "the server does not import the library's rooms",
    "packages/server/src/b.ts",
    `import "../../holdfast/src/core/job.ts";`,
  ),
  open("the server imports the library", "packages/server/src/c.ts", `import "holdfast";`),

  wall(
    "the dashboard does not import the library",
    "packages/dashboard/src/a.ts",
    `import { Holdfast } from "holdfast"; void Holdfast;`,
  ),
  wall(
    "the dashboard does not import the server",
    "packages/dashboard/src/b.tsx",
    `import { z } from "../../server/src/overview.ts"; void z;`,
  ),
  open(
    "the dashboard takes types of the library",
    "packages/dashboard/src/c.ts",
    `import type { Holdfast } from "holdfast"; export type Own = Holdfast;`,
  ),

  wall(
    "the command line does not reach into the library",
    "packages/cli/src/a.ts",
    `import "../../holdfast/src/index.ts";`,
  ),
  open("the command line imports an entry", "packages/cli/src/b.ts", `import "holdfast/env";`),

  wall(
    "engine does not import a store",
    "packages/holdfast/src/engine/a.ts",
    `import "../stores/sqlite/index.ts";`,
  ),
  wall(
    "engine does not import testing",
    "packages/holdfast/src/engine/b.ts",
    `import "../testing/index.ts";`,
  ),
  wall("engine does not import a package", "packages/holdfast/src/engine/c.ts", `import "zod";`),
  open("engine imports node:*", "packages/holdfast/src/engine/d.ts", `import "node:os";`),
  open("engine imports core", "packages/holdfast/src/engine/e.ts", `import "../core/job.ts";`),
  wall(
    "engine does not import control",
    "packages/holdfast/src/engine/f.ts",
    `import "../control/workers/workers.ts";`,
  ),
  wall(
    "engine does not import the front door",
    "packages/holdfast/src/engine/g.ts",
    `import "../holdfast.ts";`,
  ),

  wall(
    "control does not reach into the engine",
    "packages/holdfast/src/control/x/a.ts",
    `import "../../engine/lease/worker.ts";`,
  ),
  wall(
    "control does not import a store",
    "packages/holdfast/src/control/x/b.ts",
    `import "../../stores/memory/index.ts";`,
  ),
  wall(
    "control does not import the front door",
    "packages/holdfast/src/control/x/c.ts",
    `import "../../holdfast.ts";`,
  ),
  open(
    "control imports the extension contract",
    "packages/holdfast/src/control/x/d.ts",
    `import "../../engine/extension.ts";`,
  ),
  open(
    "control imports the engine's views",
    "packages/holdfast/src/control/x/e.ts",
    `import "../../engine/operate/job-view.ts";`,
  ),

  wall(
    "a store does not import the engine",
    "packages/holdfast/src/stores/x/a.ts",
    `import "../../engine/worker.ts";`,
  ),
  wall(
    "a store does not import another",
    "packages/holdfast/src/stores/x/b.ts",
    `import "../memory/index.ts";`,
  ),
  wall("a store does not import a driver", "packages/holdfast/src/stores/x/c.ts", `import "pg";`),
  wall(
    "a store does not import testing",
    "packages/holdfast/src/stores/x/d.ts",
    `import "../../testing/index.ts";`,
  ),
  open(
    "a store imports core",
    "packages/holdfast/src/stores/x/e.ts",
    `import "../../core/store.ts";`,
  ),
  open("a store imports node:*", "packages/holdfast/src/stores/x/f.ts", `import "node:sqlite";`),

  wall(
    "testing stands on no database",
    "packages/holdfast/src/testing/a.ts",
    `import "../stores/sqlite/index.ts";`,
  ),
  wall("testing brings no test runner", "packages/holdfast/src/testing/b.ts", `import "vitest";`),
  open(
    "testing imports the engine",
    "packages/holdfast/src/testing/c.ts",
    `import "../engine/worker.ts";`,
  ),
  open(
    "testing imports memory",
    "packages/holdfast/src/testing/d.ts",
    `import "../stores/memory/index.ts";`,
  ),

  bite(
    "core asks no clock",
    "packages/holdfast/src/core/p.ts",
    `Date.now();`,
    "no-restricted-properties",
  ),
  bite(
    "core draws no lots",
    "packages/holdfast/src/core/q.ts",
    `Math.random();`,
    "no-restricted-properties",
  ),
  bite(
    "core sets no timer",
    "packages/holdfast/src/core/r.ts",
    `setTimeout(() => 0, 1);`,
    "no-restricted-globals",
  ),
  bite(
    "engine waits through the runtime",
    "packages/holdfast/src/engine/p.ts",
    `setTimeout(() => 0, 1);`,
    "no-restricted-globals",
  ),
  bite(
    "engine asks the runtime's clock",
    "packages/holdfast/src/engine/q.ts",
    `Date.now();`,
    "no-restricted-properties",
  ),
  open(
    "the runtime is the door to both",
    "packages/holdfast/src/engine/runtime.ts",
    `setTimeout(() => 0, Date.now());`,
  ),

  bite(
    "no default exports",
    "packages/holdfast/src/core/s.ts",
    `export default 1;`,
    "no-default-export",
  ),
  bite(
    "no any in the sources",
    "packages/holdfast/src/core/t.ts",
    `export const x: any = 1;`,
    "no-explicit-any",
  ),
  bite(
    "no forgotten await",
    "packages/holdfast/src/engine/t.ts",
    `async function f() {}\nf();`,
    "no-floating-promises",
  ),
  bite(
    "no promise where none is expected",
    "packages/holdfast/src/engine/u.ts",
    `export const x = [1].filter(async () => true);`,
    "no-misused-promises",
  ),
  bite(
    "no await of what is no promise",
    "packages/holdfast/src/engine/v.ts",
    `export async function f(n: number) {\n  await n;\n}`,
    "await-thenable",
  ),
  bite(
    "no switch that forgets a member",
    "packages/holdfast/src/engine/w.ts",
    `export function f(x: "a" | "b") {\n  switch (x) {\n    case "a":\n      return 1;\n  }\n  return 2;\n}`,
    "switch-exhaustiveness-check",
  ),
  bite(
    "no import cycles",
    "packages/holdfast/src/engine/x.ts",
    `import { y } from "./y.ts";\nexport const x = () => y;`,
    "no-cycle",
  ),
];

function wall(claim: string, file: string, code: string) {
  return { claim, file, code, rule: "no-restricted-imports" };
}
function bite(claim: string, file: string, code: string, rule: string) {
  return { claim, file, code, rule };
}
function open(claim: string, file: string, code: string) {
  return { claim, file, code, rule: null };
}

describe("the lint walls", () => {
  let folder: string;
  let refused: Map<string, Set<string>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-walls-"));
    await copyFile(join(root, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
    const files = new Map(WALLS.map(({ file, code }) => [file, `${code}\n`]));
    files.set(
      "packages/holdfast/src/engine/y.ts",
      `import { x } from "./x.ts";\nexport const y = () => x;\n`,
    );
    files.set(
      "tsconfig.json",
      JSON.stringify({
        compilerOptions: {
          module: "nodenext",
          strict: true,
          noEmit: true,
          types: [],
          allowImportingTsExtensions: true,
        },
        include: ["packages/holdfast/src"],
      }),
    );
    for (const [file, text] of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    }
    refused = await lint(folder);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  for (const { claim, file, rule } of WALLS) {
    it(claim, () => {
      const rules = [...(refused.get(file) ?? [])];
      if (rule === null) expect(rules).toEqual([]);
      else expect(rules).toContain(rule);
    });
  }
});

/** Which rules refused which file. */
async function lint(cwd: string): Promise<Map<string, Set<string>>> {
  const oxlint = join(root, "node_modules/oxlint/bin/oxlint");
  const output = await new Promise<string>((resolve, reject) => {
    const args = [oxlint, "--type-aware", "--format=json", "packages"];
    execFile(process.execPath, args, { cwd, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      // It ends with 1 when it refuses something, which is what it is asked to do here.
      if (error !== null && error.code !== 1) reject(new Error(stderr || stdout, { cause: error }));
      else resolve(stdout);
    });
  });
  const { diagnostics } = JSON.parse(output) as {
    diagnostics: { code: string; filename: string }[];
  };
  const byFile = new Map<string, Set<string>>();
  for (const { code, filename } of diagnostics) {
    const rule = /\(([^)]+)\)/.exec(code)?.[1] ?? code;
    byFile.set(filename, (byFile.get(filename) ?? new Set()).add(rule));
  }
  return byFile;
}
