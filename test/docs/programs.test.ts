/**
 * The programs a reader meets type-check strictly and run as they are printed, against the packed package.
 */
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPackage, type InstalledPackage } from "../packaging/install-package.ts";
import { postgresDatabase } from "../servers/postgres-database.ts";
import { serverUrl } from "../servers/server-desk.ts";
import { companionOf, haveCompanions, linkCompanions } from "./companions.ts";
import { freePort } from "../servers/free-port.ts";
import { startProgram } from "./started-program.ts";
import { programsOf, type PageProgram } from "./page-programs.ts";
import { walkTutorial } from "./tutorial-walk.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const NO_COMPANIONS = "its packages are not installed: the full tier installs them";

const guides = (await readdir(join(root, "docs/guides"))).map((name) => `docs/guides/${name}`);
// Those have packages and compilers of their own: test/docs/coming-from.test.ts, test/nestjs/guide.test.ts.
const pages = ["README.md", ...guides.filter((path) => !/coming-from-|nestjs/.test(path))];
const programs = (await Promise.all(pages.map((path) => programsOf(root, path)))).flat();

describe("the programs in our pages", () => {
  let installed: InstalledPackage;
  let hasCompanions = false;
  const [readme] = programs;

  const fileOf = ({ page, file }: PageProgram) => join(installed.folder, "pages", page, file);

  beforeAll(async () => {
    installed = await installPackage();
    hasCompanions = haveCompanions();
    if (hasCompanions) await linkCompanions(join(installed.folder, "node_modules"));
    for (const program of programs) {
      await mkdir(dirname(fileOf(program)), { recursive: true });
      await writeFile(fileOf(program), program.text);
    }
  });
  afterAll(() => installed?.remove());

  it("the README opens with one of about twenty lines", () => {
    const lines = readme?.text.split("\n").filter((line) => line.trim() !== "") ?? [];
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.length).toBeLessThanOrEqual(22);
  });

  it("the README's prints what the page says, the first time and again", async () => {
    const cwd = join(installed.folder, "readme");
    await mkdir(cwd);
    await writeFile(join(cwd, "program.ts"), readme?.text ?? "");
    const printed = { code: 0, stdout: "hello, Ada, on attempt 2\n", stderr: "" };
    expect(await installed.node(["program.ts"], { cwd })).toEqual(printed);
    expect(await installed.node(["program.ts"], { cwd })).toEqual(printed);
  });

  it("all of them type-check", { timeout: 120_000 }, async () => {
    const needed = await Promise.all(programs.map(({ text }) => companionOf(text)));
    const checked = programs.filter((_, at) => hasCompanions || needed[at] === undefined);
    await writeFile(
      join(installed.folder, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          ...{ target: "es2024", module: "nodenext", types: ["node"], noEmit: true },
          ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
          ...{ allowImportingTsExtensions: true, skipLibCheck: true },
        },
        files: checked.map((program) => fileOf(program)),
      }),
    );
    expect(checked.length).toBeGreaterThan(10);
    expect(await installed.tsc(["-p", "."])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  for (const program of programs.filter((one) => one !== readme && !one.isPart)) {
    it(`${program.page}: ${program.file} runs`, { timeout: 60_000 }, async (test) => {
      const needed = await companionOf(program.text);
      test.skip(needed !== undefined && !hasCompanions, NO_COMPANIONS);
      const cwd = await mkdtemp(join(dirname(fileOf(program)), "run-"));
      const env = await serversOf(program.text);
      const ran = await installed.node([fileOf(program)], { cwd, env });
      expect(ran).toMatchObject({ code: 0, stderr: "" });
      for (const line of promisedLines(program.text)) expect(ran.stdout).toContain(`${line}\n`);
    });
  }

  it("readiness: the probe says that the worker is well", async () => {
    const port = await freePort();
    const cwd = join(installed.folder, "pages/readiness");
    const probe = await startProgram("probe.ts", { cwd, env: { PORT: String(port) } });
    const answer = await fetch(`http://localhost:${port}`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ ok: true, workers: [{ ok: true }] });
    await probe.stop();
  });

  it("express: web and worker do one job together, and stop in order", async (test) => {
    test.skip(!hasCompanions, NO_COMPANIONS);
    const cwd = join(installed.folder, "pages/express");
    const port = await freePort();
    const env = { PORT: String(port) };
    const web = await startProgram("web.ts", { cwd, env });
    const worker = await startProgram("worker.ts", { cwd, env });
    const url = `http://localhost:${port}`;
    const signUp = async (email: string) =>
      fetch(`${url}/sign-up`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email }),
      });
    const answers = [await signUp("ada@example.com"), await signUp("ada@example.com")];
    const bodies = await Promise.all(answers.map((answer) => answer.json()));
    expect(bodies[0]).toEqual(bodies[1]);
    const { job } = bodies[0] as { job: string };
    const look = async () => (await fetch(`${url}/jobs/${job}`)).json();
    await expect.poll(look, { timeout: 10_000 }).toMatchObject({ status: "succeeded" });
    expect((await signUp("no address")).status).toBe(400);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    expect((await fetch(`${url}/jobs/none`)).status).toBe(404);
    const stopped = { code: 0, stderr: "" };
    expect(await worker.stop()).toEqual({ ...stopped, stdout: "worker is up\n" });
    expect(await web.stop()).toEqual({ ...stopped, stdout: "web is up\nweb is down\n" });
  });

  it("express: its test passes", async () => {
    const cwd = join(installed.folder, "pages/express");
    const ran = await installed.node(["--test", "sign-up.test.ts"], { cwd });
    expect(ran).toMatchObject({ code: 0, stderr: "" });
  });

  it("tutorial: its lines do what the page says", { timeout: 240_000 }, async () => {
    await walkTutorial(installed, join(installed.folder, "pages/tutorial"));
  });

  it("tutorial: its test passes", { timeout: 60_000 }, async () => {
    const cwd = join(installed.folder, "pages/tutorial");
    const ran = await installed.node(["--test", "months.test.ts"], { cwd });
    expect(ran, ran.stdout).toMatchObject({ code: 0, stderr: "" });
  });
});

/** What stands behind `console.log(…); //` is printed. */
function promisedLines(text: string): string[] {
  return [...text.matchAll(/^\s*(?:if .+ )?console\.log\(.*\); \/\/ (.+)$/gm)].map(
    ([, line = ""]) => line,
  );
}

/** The servers that a program asks its environment for, with a place of its own on each. */
async function serversOf(text: string): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  if (text.includes("process.env.DATABASE_URL")) env.DATABASE_URL = (await postgresDatabase()).url;
  if (text.includes("process.env.REDIS_URL")) env.REDIS_URL = await serverUrl("redis");
  if (text.includes("process.env.MONGODB_URL")) {
    const url = new URL(await serverUrl("mongodb"));
    url.pathname = `/test_${randomBytes(6).toString("hex")}`;
    env.MONGODB_URL = url.href;
  }
  return env;
}
