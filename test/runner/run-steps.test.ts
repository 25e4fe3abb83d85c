import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { FULL_STEPS } from "./full-steps.ts";
import { runSteps, type Step } from "./run-steps.ts";

function program(name: string, text: string, env: Record<string, string> = {}): Step {
  return { name, command: process.execPath, args: ["-e", text], env };
}

async function outcomeOf(steps: readonly Step[]): Promise<{ code: number; said: string[] }> {
  const said: string[] = [];
  const code = await runSteps(steps, (line) => said.push(line.replace(/\d+ s\)/, "n s)")));
  return { code, said: said.slice(said.indexOf("\n== summary") + 1) };
}

describe("steps", () => {
  it("are all run while they succeed, and timed", async () => {
    const { code, said } = await outcomeOf([program("first", ""), program("second", "")]);
    expect([code, ...said]).toEqual([0, "ok      first (n s)", "ok      second (n s)"]);
  });

  it("end with the first that fails, and with its exit code", async () => {
    const { code, said } = await outcomeOf([
      program("first", ""),
      program("second", "process.exit(3)"),
      program("third", ""),
    ]);
    expect(code).toBe(3);
    expect(said).toEqual(["ok      first (n s)", "FAILED  second (exit 3, n s)", "not run third"]);
  });

  it("fail if they are ended by a signal or cannot be started", async () => {
    const killed = program("killed", "process.kill(process.pid, 'SIGKILL')");
    expect((await outcomeOf([killed])).code).toBe(1);
    const absent = { ...killed, command: "holdfast-has-no-such-command" };
    expect((await outcomeOf([absent])).code).toBe(1);
  });

  it("have their own environment beside ours", async () => {
    const text = "process.exit(process.env.TIER_OF_STEP === 'full' && process.env.PATH ? 0 : 1)";
    const { code } = await outcomeOf([program("one", text, { TIER_OF_STEP: "full" })]);
    expect(code).toBe(0);
  });
});

describe("the full tier", () => {
  it("consists of commands that package.json has", async () => {
    const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
    const manifest = JSON.parse(text) as { scripts: object };
    for (const { args } of FULL_STEPS) {
      expect(Object.keys(manifest.scripts)).toContain(args[2]);
    }
  });
});
