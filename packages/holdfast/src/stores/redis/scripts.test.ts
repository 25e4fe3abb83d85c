import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { script, type ScriptName } from "./script.ts";
import { LUA } from "./scripts.ts";

const verbs = Object.entries(LUA)
  .filter(([, text]) => text.startsWith("#!lua"))
  .map(([name]) => name as ScriptName);

describe("the scripts", () => {
  it("are what their Lua is", async () => {
    const made = fileURLToPath(
      new URL("../../../../../scripts/redis-scripts.mjs", import.meta.url),
    );
    await promisify(execFile)(process.execPath, [made, "--check"]);
  });

  it("begin with their flags and include what they name", () => {
    for (const name of verbs) {
      const { source } = script(name);
      expect(source, name).toMatch(/^#!lua( flags=(allow-oom|no-writes))?\n/);
      expect(source, name).not.toContain("-- include");
      expect(source, name).toContain("local root = string.sub(KEYS[1], 1, -2)");
    }
  });

  it("refuse producers when memory is full, and nobody who finishes work", () => {
    const refused = verbs.filter((name) => LUA[name].startsWith("#!lua\n"));
    expect(refused.toSorted()).toEqual([
      "adopt",
      "hand-over",
      "insert",
      "ledger-amend",
      "ledger-append",
      "records-swap",
      "reschedule",
      "revive",
    ]);
  });
});
