/** What a viewer is told of an import that failed. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineImport, emptyTarget, openImports } from "@holdfast/imports";
import { importsMount } from "@holdfast/imports/server";
import { createServer } from "@holdfast/server";
import { Holdfast } from "holdfast";
import { memoryStore } from "holdfast/memory";

const TOKEN = "an-admin-token-for-tests-only";
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

it("the password of a target's address is in no answer", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-told-"));
  const hf = new Holdfast({ store: memoryStore(), logger: quiet }) as Holdfast;
  const begin = async (): Promise<never> => {
    throw new Error("postgres://me:hunter2@db.example.com/app has no such database");
  };
  const schema = { validate: (value: unknown) => ({ value: value as { email: string } }) };
  const imports = await openImports(hf, {
    inbox: folder,
    types: [
      defineImport({
        ...{ type: "people", schema, key: ["email"], target: { ...emptyTarget(), begin } },
        job: { retry: { maxAttempts: 1 } },
      }),
    ],
    manifest: { "People.csv": { type: "people" } },
  });
  const auth = { adminToken: TOKEN };
  const server = createServer(hf, { auth, checkAnswers: true, mounts: [importsMount(imports)] });
  const { url } = await server.listen({ port: 0 });
  await writeFile(join(folder, "People.csv"), "email\nann@example.com\n");
  const { id } = await imports.submit("People.csv");
  await hf.work({ queues: ["imports"] });
  expect(await hf.waitFor(id)).toMatchObject({ status: "dead" });
  for (const path of ["", `/${id}`]) {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await fetch(`${url}/api/v1/imports${path}`, { headers });
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    expect(text).toContain("has no such database");
    expect(text).not.toContain("hunter2");
  }
  await server.close();
  await hf.close();
  await imports.close();
  await rm(folder, { recursive: true });
});
