/**
 * A Nest application written from the guide alone, and system 2's as it is, installed from tarballs beside Nest 11 and
 * beside Nest 12, compiled as users compile.
 */
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPackages } from "../../scripts/install-packages.mjs";
import { programsOf } from "../docs/page-programs.ts";
import { startProgram } from "../docs/started-program.ts";
import { onlyInFull, TIER } from "../runner/tier.ts";
import { freePort } from "../servers/free-port.ts";
import { installedApp, NEST, type InstalledApp } from "./installed-app.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));
const versions = [
  // As `nest new` of each version writes it.
  { nest: 11, type: "commonjs" },
  { nest: 12, type: "module" },
] as const;
const json = { "content-type": "application/json" };

describe.each(versions)("with Nest $nest", ({ nest, type }) => {
  let app: InstalledApp | undefined;
  let isInstalled = true;

  beforeAll(async () => {
    if (TIER !== "full") return;
    isInstalled = nest === 12 || installPackages(NEST[nest]);
    if (!isInstalled) return;
    app = await installedApp(nest);
    const source = join(app.folder, "guide/src");
    await mkdir(source, { recursive: true });
    const programs = await programsOf(root, "docs/guides/nestjs.md");
    for (const { file, text } of programs) await writeFile(join(source, file), text);
    await cp(join(here, "programs/admin.ts"), join(source, "admin.ts"));
    if (nest === 11) await cp(join(here, "programs/terminus.ts"), join(source, "terminus.ts"));
    await cp(join(here, "system-2/src"), join(app.folder, "system-2/src"), { recursive: true });
  }, 300_000);
  afterAll(() => app?.remove());

  const needed = (test: Parameters<typeof onlyInFull>[0]): InstalledApp => {
    onlyInFull(test);
    test.skip(!isInstalled, `Nest ${nest} could not be installed`);
    return app as InstalledApp;
  };

  it("the programs of the guide compile", { timeout: 120_000 }, async (test) => {
    expect(await needed(test).compile("guide", type)).toBe("");
  });

  it("its application takes sign-ups, runs its jobs and stops in order", async (test) => {
    const cwd = join(needed(test).folder, "guide");
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = { PORT: String(port), NO_COLOR: "1" };
    const main = await startProgram("dist/main.js", { cwd, env });
    await expect.poll(() => fetch(`${url}/ready`).catch(() => null)).toMatchObject({ status: 200 });
    const signUp = async (email: string) => {
      const body = JSON.stringify({ email });
      return fetch(`${url}/sign-up`, { method: "POST", headers: json, body });
    };
    const [one, two] = [await signUp("ada@example.com"), await signUp("ada@example.com")];
    expect(one.status).toBe(202);
    const { job } = (await one.json()) as { job: string };
    expect(await two.json()).toEqual({ job });
    const look = async () => (await fetch(`${url}/jobs/${job}`)).json();
    await expect.poll(look, { timeout: 10_000 }).toMatchObject({
      ...{ _id: job, status: "succeeded", result: { messageId: "m-1" } },
    });
    expect((await signUp("no address")).status).toBe(422);
    expect((await fetch(`${url}/jobs/none`)).status).toBe(404);
    const { stdout, stderr } = await main.stop();
    expect(stderr).toBe("");
    expect(stdout).toContain(`[QueueWorkerService] Processing job ${job} of type mail.welcome`);
  });

  it("its test passes", async (test) => {
    const installed = needed(test);
    const cwd = join(installed.folder, "guide");
    const ran = await installed.node(["--test", "dist/sign-up.test.js"], { cwd });
    expect(ran).toMatchObject({ code: 0, stderr: "" });
  });

  it("the HTTP API stands behind its guard, on Fastify", async (test) => {
    const cwd = join(needed(test).folder, "guide");
    const port = await freePort();
    const program = await startProgram("dist/admin.js", { cwd, env: { PORT: String(port) } });
    const me = (headers: Record<string, string>) => () =>
      fetch(`http://127.0.0.1:${port}/admin/jobs/api/v1/me`, { headers }).catch(() => null);
    await expect.poll(me({ "x-staff": "ada" })).toMatchObject({ status: 200 });
    expect((await me({})())?.status).toBe(403);
    await program.stop();
  });

  // Terminus is installed beside Nest 11 only; it is the same for both.
  if (nest === 11) {
    it("Terminus reads the health indicator, up and down", async (test) => {
      const installed = needed(test);
      const ran = await installed.node(["dist/terminus.js"], {
        cwd: join(installed.folder, "guide"),
      });
      expect(ran).toMatchObject({
        ...{ code: 0, stdout: "200 ok jobs,store\n503 error jobs,store\n" },
      });
    });
  }

  it("system 2's application compiles unchanged and runs", { timeout: 120_000 }, async (test) => {
    const installed = needed(test);
    expect(await installed.compile("system-2", "commonjs")).toBe("");
    const program = `
      require("reflect-metadata");
      const { NestFactory } = require("@nestjs/core");
      const { QueueService } = require("@holdfast/nestjs");
      const { Holdfast } = require("holdfast");
      const { AppModule } = require("./dist/app.module.js");
      (async () => {
        const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
        const queue = app.get(QueueService);
        const { _id } = await queue.enqueue({ type: "send.email", payload: { to: "ada" } });
        await app.get(Holdfast).waitFor(_id);
        const { status, result } = await queue.getJobById(_id);
        console.log(status, JSON.stringify(result));
        await app.close();
      })();`;
    const ran = await installed.node(["-e", program], { cwd: join(installed.folder, "system-2") });
    expect(ran).toEqual({
      ...{ code: 0, stderr: "", stdout: 'succeeded {"sent":true,"messageId":"..."}\n' },
    });
  });
});
