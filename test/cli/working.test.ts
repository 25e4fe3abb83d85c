/** Commands that work for as long as there is work: they end when it does, or when they are told to. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { holdfastOn, makeSeed, useSeed } from "./seeded-store.ts";
import { Terminal } from "./terminal.ts";

describe("work --until-empty", () => {
  let terminal: Terminal;
  let file: string;
  beforeEach(async () => {
    terminal = await Terminal.open();
    await makeSeed(terminal.folder);
    file = useSeed(terminal.folder, terminal.folder);
  });
  afterEach(() => terminal?.close());
  const argv = ["work", "--jobs", "./jobs.ts", "--queues", "mail", "--until-empty"];

  it("ends once its own queues are empty, whatever waits in others", async () => {
    const hf = holdfastOn(file);
    await hf.enqueue("hello.say", { name: "Ann" }, { queue: "default" });
    const { id } = await hf.enqueue("email.send", {}, { queue: "mail" });
    const { code, err } = await terminal.run(argv);
    expect(code, err).toBe(0);
    expect(await hf.job(id)).toMatchObject({ status: "succeeded" });
    await hf.close();
  });

  it("ends when it is told to, although something waits", async () => {
    const hf = holdfastOn(file);
    await hf.pause("mail");
    await hf.enqueue("email.send", {}, { queue: "mail" });
    await hf.close();
    const stopWhen = (written: string) => written.includes("work:start");
    const { code, out } = await terminal.run(argv, { stopWhen });
    expect(code).toBe(0);
    expect(out).toContain("work:end");
  });
});
