/** What is left out. */
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
