/** What a user gets from `npm install holdfast`: every entry loads, and the package is well formed. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenLinks } from "../docs/broken-links.ts";
import { installPackage, type InstalledPackage } from "./install-package.ts";

/** Every entry, and one name it must have. */
const ENTRIES = {
  holdfast: "Holdfast",
  "holdfast/memory": "memoryStore",
  "holdfast/sqlite": "sqliteStore",
  "holdfast/postgres": "postgresStore",
  "holdfast/redis": "redisStore",
  "holdfast/mongodb": "mongodbStore",
  "holdfast/connect": "connect",
  "holdfast/doctor": "checkStore",
  "holdfast/env": "optionsFromEnv",
  "holdfast/move": "moveJobs",
  "holdfast/testing": "testHoldfast",
  "holdfast/conformance": "storeConformance",
} as const;

describe("the published package", () => {
  let installed: InstalledPackage;

  beforeAll(async () => {
    installed = await installPackage();
  });
  afterAll(() => installed?.remove());

  it("exports exactly the entries this test knows", async () => {
    const { exports } = JSON.parse(
      await readFile(join(installed.staged, "package.json"), "utf8"),
    ) as { exports: Record<string, unknown> };
    const names = Object.keys(exports).map((path) => path.replace(/^\./, "holdfast"));
    expect(names.toSorted()).toEqual([...Object.keys(ENTRIES), "holdfast/package.json"].toSorted());
  });

  for (const [entry, name] of Object.entries(ENTRIES)) {
    it(`${entry} can be imported`, async () => {
      const code = `import { ${name} } from "${entry}"; console.log(typeof ${name});`;
      const ran = await installed.node(["--input-type=module", "-e", code]);
      expect(ran).toEqual({ code: 0, stdout: "function\n", stderr: "" });
    });

    it(`${entry} can be required`, async () => {
      const code = `const { ${name} } = require("${entry}"); console.log(typeof ${name});`;
      const ran = await installed.node(["--input-type=commonjs", "-e", code]);
      expect(ran).toEqual({ code: 0, stdout: "function\n", stderr: "" });
    });
  }

  for (const [entry, name] of [
    ["@holdfast/server", "createServer"],
    ["@holdfast/server/classic", "classic"],
    ["@holdfast/crm", "hubspotSync"],
    ["@holdfast/crm/double", "hubspotDouble"],
    ["@holdfast/pacing", "Pacing"],
    ["@holdfast/pacing/server", "pacingMount"],
  ]) {
    it(`${entry} can be imported and required beside it`, async () => {
      const ran = await installed.node([
        ...["--input-type=module", "-e"],
        `import { ${name} } from "${entry}"; console.log(typeof ${name});`,
      ]);
      expect(ran).toEqual({ code: 0, stdout: "function\n", stderr: "" });
      const required = await installed.node([
        ...["--input-type=commonjs", "-e"],
        `console.log(typeof require("${entry}").${name});`,
      ]);
      expect(required).toEqual({ code: 0, stdout: "function\n", stderr: "" });
    });
  }

  it("has no default exports", async () => {
    const code = `for (const entry of ${JSON.stringify(Object.keys(ENTRIES))})
      if ("default" in (await import(entry))) console.log(entry);`;
    expect((await installed.node(["--input-type=module", "-e", code])).stdout).toBe("");
  });

  it("satisfies publint", async () => {
    const { messages, pkg } = await publint({ pkgDir: installed.staged, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it("brings no dependencies and no tests", async () => {
    const { node } = installed;
    const code = `const fs = require("node:fs");
      console.log(fs.readdirSync("node_modules/holdfast").join());
      console.log(fs.readdirSync("node_modules/holdfast/dist", { recursive: true })
        .filter((file) => /\\.test\\.|\\.ts$/.test(file) && !file.endsWith(".d.ts")).join());`;
    const { stdout } = await node(["--input-type=commonjs", "-e", code]);
    expect(stdout).toBe("CHANGELOG.md,LICENSE,README.md,dist,docs,package.json\n\n");
  });

  it("has every page that its README and its pages link to", async () => {
    const root = join(installed.folder, "node_modules/holdfast");
    const docs = (await readdir(join(root, "docs"), { recursive: true })).filter((name) =>
      name.endsWith(".md"),
    );
    expect(docs.length).toBeGreaterThan(30);
    for (const page of ["README.md", "CHANGELOG.md", ...docs.map((name) => join("docs", name))]) {
      expect(await brokenLinks(root, page), page).toEqual([]);
    }
  });

  for (const resolution of ["nodenext", "bundler"] as const) {
    it(`has types for every entry under ${resolution}`, async () => {
      const file = `entries-${resolution}.ts`;
      const imports = Object.entries(ENTRIES).map(
        ([entry, name]) => `import { ${name} } from "${entry}";\nvoid ${name};`,
      );
      await writeFile(join(installed.folder, file), `${imports.join("\n")}\n`);
      const module = resolution === "nodenext" ? "nodenext" : "esnext";
      const ran = await installed.tsc([
        ...["--noEmit", "--strict", "--target", "es2023", "--types", "node"],
        ...["--module", module, "--moduleResolution", resolution, file],
      ]);
      expect(ran).toEqual({ code: 0, stdout: "", stderr: "" });
    });
  }
});
