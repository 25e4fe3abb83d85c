/**
 * The app of examples/coming-from, on each of the four job systems and on Holdfast beside it: both versions
 * run against a real server and print the same lines.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { installPackages } from "../../scripts/install-packages.mjs";
import { onlyInFull, TIER } from "../runner/tier.ts";
import { postgresDatabase } from "../servers/postgres-database.ts";
import { serverUrl } from "../servers/server-desk.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "examples/coming-from");

const PRINTED = `welcome: m-ada@example.com, after 2 tries
reminder: ada@example.com
news: 100 of 100
`;

/** Where each finds its server. Each run has a place of its own. */
const PLACES: Readonly<Record<string, () => Promise<Record<string, string>>>> = {
  bullmq: async () => ({ REDIS_URL: await serverUrl("redis"), PREFIX: unique() }),
  "pg-boss": async () => ({ DATABASE_URL: (await postgresDatabase()).url }),
  "graphile-worker": async () => ({ DATABASE_URL: (await postgresDatabase()).url }),
  agenda: async () => {
    const url = new URL(await serverUrl("mongodb"));
    url.pathname = `/${unique()}`;
    return { MONGODB_URL: url.href };
  },
};

describe("coming from another job system", { timeout: 60_000 }, () => {
  let isInstalled = false;
  beforeAll(() => {
    if (TIER === "full") isInstalled = installPackages(folder);
  });

  for (const [name, place] of Object.entries(PLACES)) {
    for (const version of ["before", "after"]) {
      it(`the app runs on ${version === "before" ? name : `Holdfast, beside ${name}`}`, async (test) => {
        onlyInFull(test);
        test.skip(!isInstalled, "the packages of examples/coming-from could not be installed");
        const ran = await run([join(folder, name, `${version}.ts`)], await place());
        expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining(PRINTED) });
      });
    }
  }

  it("every version type-checks", async (test) => {
    onlyInFull(test);
    test.skip(!isInstalled, "the packages of examples/coming-from could not be installed");
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    expect(await run([tsc, "-p", folder], {})).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

function unique(): string {
  return `test_${randomBytes(6).toString("hex")}`;
}

function run(
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { cwd: root, env: { ...process.env, ...env }, timeout: 55_000 };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}
