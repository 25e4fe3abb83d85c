/** What is typed wrong is said, and nothing is done. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { holdfastOn, makeSeed, useSeed } from "./seeded-store.ts";
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

it("a queue that nobody knows is asked about, and held all the same", async () => {
  for (const argv of [["pause"], ["limit", "--max-active", "1"], ["resume"]]) {
    const [verb = "", ...flags] = argv;
    const { code, err } = await terminal.run([verb, `to-${verb}`, ...flags]);
    expect([code, err]).toEqual([0, expect.stringContaining("is it spelt right?")]);
    expect((await terminal.run([verb, "mail", ...flags])).err).toBe("");
  }
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
