/**
 * What the images start, ask and stop, run on this machine: the commands are read from Dockerfile and compose.yaml, and
 * `holdfast` is the command line from the sources.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freePort } from "../servers/free-port.ts";
import { environmentOf, readCompose } from "./compose-file.ts";
import { healthcheckOf, stagesOf, wordsOf } from "./dockerfile.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const stages = await stagesOf(new URL("../../Dockerfile", import.meta.url));
const compose = readCompose(new URL("../../compose.yaml", import.meta.url));
const image = (name: string) => stages.find((stage) => stage.name === name)!;
const OWN = {
  JWT_SECRET: "a secret of the tests, forty characters long",
  SAMPLE_PASSWORD: "a password of the tests",
};
const NO_SIGNALS = "images are for Linux: this machine has no shell and no SIGTERM";
const JOBS = `
import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { Holdfast } from "holdfast";

export function jobs(hf: Holdfast) {
  hf.define({
    type: "wait.for-file",
    async run(job) {
      console.log("it runs");
      while (!existsSync("go")) await setTimeout(20);
      return "it was there";
    },
  });
}
`;

let folder: string;
const started: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-image-"));
  await mkdir(join(folder, "bin"));
  const bin = join(root, "packages/cli/src/bin.ts");
  const line = `exec "${process.execPath}" --conditions=@holdfast/source "${bin}" "$@"`;
  await writeFile(join(folder, "bin/holdfast"), `#!/bin/sh\n${line}\n`);
  await chmod(join(folder, "bin/holdfast"), 0o755);
});
afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** As in the image: only what it is given, and its programs first. */
function environment(given: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = "", HOME = folder } = process.env;
  const path = [join(folder, "bin"), join(process.execPath, ".."), PATH].join(delimiter);
  return { PATH: path, HOME, NODE_ENV: "production", ...given };
}

function start(words: readonly string[], env: Readonly<Record<string, string>>) {
  const [program = "", ...rest] = words;
  const child = spawn(program, rest, { cwd: folder, env: environment(env) });
  started.push(child);
  const said = { out: "", err: "" };
  child.stdout.on("data", (part: Buffer) => (said.out += part.toString()));
  child.stderr.on("data", (part: Buffer) => (said.err += part.toString()));
  const ended = once(child, "close").then(([code]) => code as number | null);
  const says = (text: string) =>
    expect.poll(() => said.out + said.err, { timeout: 60_000 }).toContain(text);
  return { child, said, ended, says };
}

function exitCode(words: readonly string[], env: Readonly<Record<string, string>>) {
  const [program = "", ...rest] = words;
  return new Promise<number>((resolve) => {
    execFile(program, rest, { cwd: folder, env: environment(env) }, (error) =>
      resolve(error === null ? 0 : Number(error.code)),
    );
  });
}

describe("the images' own commands", () => {
  it("a worker is healthy while it works, and lets a running job end on SIGTERM", async (test) => {
    test.skip(process.platform === "win32", NO_SIGNALS);
    const worker = compose.services["worker-postgres"];
    const command = [...wordsOf(image("holdfast"), "ENTRYPOINT"), ...(worker?.command ?? [])];
    const health = healthcheckOf(image("holdfast"));
    const env = { HOLDFAST_URL: `sqlite:${join(folder, "jobs.db")}` };
    await writeFile(join(folder, "jobs.ts"), JOBS);
    await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }');
    await mkdir(join(folder, "node_modules"));
    await symlink(join(root, "packages/holdfast"), join(folder, "node_modules/holdfast"));

    expect(hostname()).not.toBe("");
    expect(await exitCode(health, env)).not.toBe(0); // nothing is there yet
    const running = start(command, env);
    await running.says("work:start");
    expect(await exitCode(health, env)).toBe(0);
    expect(await exitCode(["holdfast", "enqueue", "wait.for-file", "{}"], env)).toBe(0);
    await running.says("it runs");
    running.child.kill("SIGTERM");
    await running.says("work:stop");
    await writeFile(join(folder, "go"), "");
    expect(await running.ended, running.said.err).toBe(0);
    expect(running.said.out).toContain("job:succeeded");
    expect(await exitCode(health, env)).not.toBe(0);
  }, 180_000);

  it("the back office asks for its secrets, is healthy once it runs, and stops on SIGTERM", async (test) => {
    test.skip(process.platform === "win32", NO_SIGNALS);
    const office = compose.services["backoffice"]!;
    const [program = "", main = ""] = wordsOf(image("backoffice"), "ENTRYPOINT");
    expect([program, main]).toEqual(["node", "/app/dist/main.js"]);
    const build = join(root, "scripts/build-apps.mjs");
    expect(await exitCode([program, build, "--if-newer"], {})).toBe(0);
    const here = join(root, "apps/backoffice", main.replace("/app/", ""));
    const command = [program, "--conditions=@holdfast/source", here, ...(office.command ?? [])];
    const port = await freePort();
    const given = (own: Readonly<Record<string, string>>) => ({
      ...Object.fromEntries(
        Object.entries(environmentOf(office, own)).map(([name, value]) => [
          name,
          value.replace("/data/", `${folder}/`),
        ]),
      ),
      PORT: String(port),
    });

    const bare = start(command, given({}));
    expect(await bare.ended).toBe(2);
    expect(bare.said.err).toContain("JWT_SECRET is needed");
    const known = start(command, given({ JWT_SECRET: OWN.JWT_SECRET }));
    expect(await known.ended).toBe(1);
    expect(known.said.err).toContain("SAMPLE_PASSWORD is needed");

    const health = healthcheckOf(image("backoffice"));
    expect(await exitCode(health, given(OWN))).toBe(1);
    const running = start(command, given(OWN));
    await running.says("Ctrl-C");
    expect(await exitCode(health, given(OWN))).toBe(0);
    const login = async (password: string) => {
      const body = JSON.stringify({ email: "admin@backoffice.example", password });
      const headers = { "content-type": "application/json" };
      const url = `http://127.0.0.1:${port}/api/auth/login`;
      return (await fetch(url, { method: "POST", headers, body })).status;
    };
    expect(await login(OWN.SAMPLE_PASSWORD)).toBeLessThan(300);
    expect(await login("try-admin-2026")).toBe(401);
    running.child.kill("SIGTERM");
    expect(await running.ended, running.said.err).toBe(0);
    expect(running.said.out).toContain("Stopped.");
  }, 180_000);
});
