/** Dead jobs are archived before retention removes them. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  InvalidOptionError,
  PermanentError,
  type Holdfast,
  type JobView,
} from "../../packages/holdfast/src/index.ts";
import { EVERY_STORE, openWorld, type World } from "./world.ts";

const MINUTE_MS = 60_000;

describe.each(EVERY_STORE)("archiving on %s", (name) => {
  let world: World;
  let archived: string[];
  let isBroken: boolean;
  beforeEach(async () => {
    world = await openWorld(name);
    archived = [];
    isBroken = false;
  });
  afterEach(() => world.close());

  const archive = async (jobs: readonly JobView[]) => {
    if (isBroken) throw new Error("disk full");
    archived.push(...jobs.map(({ id }) => id));
  };

  async function failing(options: object): Promise<{ hf: Holdfast; said: string[] }> {
    const process = world.process({ retention: { dead: { maxAgeMs: MINUTE_MS } }, ...options });
    process.hf.define({
      type: "fails",
      run() {
        throw new PermanentError("no");
      },
    });
    await process.hf.work();
    return process;
  }

  async function dead(hf: Holdfast, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) ids.push((await hf.enqueue("fails", { n })).id);
    await world.advance(500);
    return ids;
  }

  /** Until a process has looked for what is past its keeping. */
  const looked = () => world.advance(6_000);
  const grow = async () => {
    world.jumpStoreClock(10 * MINUTE_MS);
    await world.advance(50);
  };

  it("what is past its keeping is archived, then removed, by one of several processes", async () => {
    const { hf } = await failing({ archive });
    await failing({ archive });
    const ids = await dead(hf, 3);
    await grow();
    const [young = ""] = await dead(hf, 1);
    await looked();
    expect(archived.toSorted()).toEqual(ids.toSorted());
    for (const id of ids) expect(await hf.job(id)).toBeNull();
    expect(await hf.job(young)).toMatchObject({ status: "dead" });
  });

  it("an archive that fails keeps the jobs, and is told of", async () => {
    isBroken = true;
    const { hf, said } = await failing({ archive });
    const [id = ""] = await dead(hf, 1);
    await grow();
    await looked();
    expect(await hf.job(id)).toMatchObject({ status: "dead" });
    expect(said.join()).toMatch(/could not be archived: they are kept/);
    isBroken = false;
    await world.advance(11_000);
    expect(archived).toEqual([id]);
    expect(await hf.job(id)).toBeNull();
  });

  it("one process goes on archiving, however long it takes, and no other begins", async () => {
    const pages: (() => void)[] = [];
    const slow = (by: string) => (jobs: readonly JobView[]) => {
      archived.push(...jobs.map(({ id }) => `${by} ${id}`));
      return new Promise<void>((resolve) => void pages.push(resolve));
    };
    const { hf } = await failing({ archive: slow("one") });
    await failing({ archive: slow("two") });
    const ids = (
      await hf.enqueueAll(Array.from({ length: 450 }, () => ({ type: "fails", payload: null })))
    ).map((receipt) => ("id" in receipt ? receipt.id : ""));
    await world.advance(2_000);
    await grow();
    for (let page = 1; page <= 5; page += 1) {
      await world.advance(50_000);
      expect(pages).toHaveLength(page);
      pages.at(-1)?.();
    }
    await world.advance(2_000);
    const [by] = (archived[0] ?? "").split(" ");
    expect(archived.toSorted()).toEqual(ids.map((id) => `${by} ${id}`).toSorted());
    expect((await hf.jobs({ status: "dead", limit: 1 })).jobs).toEqual([]);
  });

  it("a process without an archive removes no dead job while another archives", async () => {
    isBroken = true;
    const { hf } = await failing({ archive });
    await looked();
    await failing({});
    const [id = ""] = await dead(hf, 1);
    await grow();
    await world.advance(MINUTE_MS + 1_000);
    expect(await hf.job(id)).toMatchObject({ status: "dead" });
  });

  it("also what is not kept at all, and what is too many, is archived first", async () => {
    const { hf } = await failing({ archive, retention: { dead: { maxCount: 1 } } });
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push(...(await dead(hf, 1)));
    await looked();
    expect(archived.toSorted()).toEqual(ids.slice(0, 2).toSorted());
    expect(await hf.job(ids[2] ?? "")).toMatchObject({ status: "dead" });
  });

  it("a file gets a line of JSON for each job, payload and history with it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-archive-"));
    try {
      const file = join(folder, "dead.jsonl");
      const { hf } = await failing({ archive: { file }, retention: { dead: { maxCount: 0 } } });
      const ids = await dead(hf, 2);
      // Files are no part of the world: it does not wait for them.
      await looked();
      await world.until(async () => (await hf.job(ids[1] ?? "")) === null);
      const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
      const jobs = lines.map((line) => JSON.parse(line) as JobView);
      expect(jobs.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      expect(jobs[0]).toMatchObject({ status: "dead", type: "fails", payload: { n: 0 } });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("an archive that is none is refused", () => {
    expect(() => world.process({ archive: "dead.jsonl" as never })).toThrow(InvalidOptionError);
    expect(() => world.process({ archive: { files: "x" } as never })).toThrow(/"file"/);
  });
});
