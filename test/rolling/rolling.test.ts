/**
 * A rolling deploy: another build of Holdfast beside this one on the same database. There is no other build in a
 * clone: `HOLDFAST_OTHER_DIST=/path/to/other/packages/holdfast/dist npx vitest run test/rolling` names one.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Holdfast } from "../../packages/holdfast/src/index.ts";
import { makePlace, openPlace, PLACES } from "../failures/places.ts";
import type { RollingWorkerOptions } from "./worker.ts";

const OTHER = process.env.HOLDFAST_OTHER_DIST ?? "";
const OURS = fileURLToPath(new URL("../../packages/holdfast/dist", import.meta.url));
const PROGRAM = fileURLToPath(new URL("worker.ts", import.meta.url));
const JOBS = 200;

async function start(options: RollingWorkerOptions): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const up = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  if (String(up[0]) !== "up\n")
    throw new Error(`a worker ended before it was up: ${String(up[0])}`);
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  expect((await gone)[0]).toBe(0);
}

describe.each(PLACES)("two builds on one database, %s", (name) => {
  it("each job of either runs once while one build follows the other and comes back", async (context) => {
    context.skip(OTHER === "", "no other build was named: HOLDFAST_OTHER_DIST");
    const folder = await mkdtemp(join(tmpdir(), "holdfast-rolling-"));
    const notes = join(folder, "notes");
    const place = await makePlace(name, folder);
    const children: ChildProcess[] = [];
    const add = async (dist: string, as: string) => {
      const address = { name: place.name, url: place.url };
      const child = await start({ dist, place: address, name: as, jobs: JOBS, notes });
      children.push(child);
      return child;
    };
    try {
      const old = await add(OTHER, "old");
      // It brings the schema of this version while the other one works.
      const fresh = await add(OURS, "new");
      await stop(old);
      // A deploy that is taken back: the other build meets the newer schema.
      const back = await add(OTHER, "back");
      await stop(fresh);
      const last = await add(OURS, "last");
      const hf = new Holdfast({ store: await openPlace(place) });
      const all = 4 * JOBS;
      const done = async () =>
        Object.values(await hf.counts()).reduce((sum, { succeeded }) => sum + succeeded, 0);
      while ((await done()) < all) await pause(50);
      await stop(back);
      await stop(last);
      await hf.close();
      const lines = (await readFile(notes, "utf8")).trim().split("\n");
      const runs = lines.map((line) => line.split(" ")[0]!);
      expect(new Set(runs).size).toBe(all);
      expect(runs).toHaveLength(all);
    } finally {
      for (const child of children) child.kill("SIGKILL");
      await place.drop();
      await rm(folder, { recursive: true, force: true });
    }
  }, 60_000);
});
