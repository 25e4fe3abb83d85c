/** What is typed wrong is said, and nothing is done; what was done before something went wrong is told. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";
import { adopted, DEAD, holdfastOn, makeSeed, useSeed } from "./seeded-store.ts";
import { Terminal } from "./terminal.ts";

let terminal: Terminal;
let file: string;
beforeEach(async () => {
  terminal = await Terminal.open();
  await makeSeed(terminal.folder);
  file = useSeed(terminal.folder, terminal.folder);
});
afterEach(() => terminal?.close());

describe("move", () => {
  it("of a queue that is not there says so, and touches neither store", async () => {
    for (const last of ["--dry-run", "--yes"]) {
      const argv = ["move", "--to", "sqlite:other.db", "--queue", "mial", last];
      const { code, out, err } = await terminal.run(argv);
      expect([code, out]).toEqual([3, ""]);
      expect(err).toContain("there is no queue mial in the old store");
    }
    const { out } = await terminal.run(["queues", "--json"]);
    expect(JSON.parse(out)).toMatchObject([{ queue: "mail", held: null }]);
    expect((await terminal.run(["jobs", "--url", "sqlite:other.db"])).code).toBe(3);
  });

  it("of a queue that has limits and no jobs takes those along", async () => {
    await terminal.run(["limit", "idle", "--max-active", "3"]);
    const argv = ["move", "--to", "sqlite:other.db", "--queue", "idle", "--yes"];
    const { code, err } = await terminal.run(argv);
    expect(code, err).toBe(0);
  });
});

it("a bench of no jobs is refused, and does not wait for their end", async () => {
  for (const none of ["--jobs", "--concurrency"]) {
    const argv = ["bench", "--url", "sqlite:bench.db", none, "0", "--yes"];
    expect((await terminal.run(argv)).code).toBe(2);
  }
});

it("init takes a folder by its whole path", async () => {
  const folder = join(terminal.folder, "elsewhere");
  mkdirSync(folder);
  const { code, err } = await terminal.run(["init", "--store", "sqlite", "--folder", folder]);
  expect(code, err).toBe(0);
});

it("what became of the jobs before the one that failed is told", async () => {
  const { code, out } = await terminal.run(["retry", DEAD, ""]);
  expect(out).toBe(`retried ${DEAD}\n`);
  expect(code).toBe(2);
});

it("a queue that nobody knows is asked about, and held all the same", async () => {
  for (const argv of [["pause"], ["limit", "--max-active", "1"], ["resume"]]) {
    const [verb = "", ...flags] = argv;
    const { code, err } = await terminal.run([verb, `to-${verb}`, ...flags]);
    expect([code, err]).toEqual([0, expect.stringContaining("is it spelt right?")]);
    expect((await terminal.run([verb, "mail", ...flags])).err).toBe("");
  }
});

it("a fault is shown that is rarer than all that are listed", async () => {
  const store = sqliteStore({ file, synchronous: "normal" });
  await store.open();
  const hex = (at: number) => at.toString(16).padStart(12, "0");
  const died = (at: number, fingerprint: string) =>
    adopted({
      ...{ id: `01981b62-7f2c-7c3a-9d1e-${hex(at)}`, status: "dead", reason: "failed" },
      ...{ finishedAt: Date.now(), attempts: 5 },
      error: { category: "unknown", message: "a bug", stack: null, fingerprint },
    });
  for (const copy of [0, 1]) {
    const common = Array.from({ length: 200 }, (_, at) => died(at * 2 + copy, `common-${at}`));
    await store.adopt(common);
  }
  const rare = died(1_000, "rare");
  await store.adopt([rare]);
  await store.close();
  const { code, out } = await terminal.run(["dead", "show", "rare"]);
  expect(code).toBe(0);
  expect(out).toContain(rare.id);
});

describe("a payload", () => {
  it("that is left out is empty, as over HTTP, and null is one like any other", async () => {
    const payloads = [];
    for (const given of [[], ["null"]]) {
      const { out } = await terminal.run(["enqueue", "x", ...given, "--queue", "default"]);
      const hf = holdfastOn(file);
      payloads.push((await hf.job(out.split(" ")[1]?.trim() ?? ""))?.payload);
      await hf.close();
    }
    expect(payloads).toEqual([{}, null]);
    await terminal.run(["schedules", "set", "beat", "x", "--queue", "default", "--every", "2m"]);
    const { out } = await terminal.run(["schedules", "--json"]);
    expect(JSON.parse(out)).toMatchObject([{ name: "beat", job: { payload: {} } }]);
  });
});
