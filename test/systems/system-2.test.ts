/** System 2's three questions to MongoDB, asked of the command line, and the answers compared with the jobs themselves. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Holdfast } from "holdfast";
import { mongodbStore } from "holdfast/mongodb";
import { serverUrl } from "../servers/server-desk.ts";
import { Terminal } from "../cli/terminal.ts";

interface Figures {
  readonly finished: { readonly succeeded: number; readonly dead: number };
  readonly runMs: { readonly avg: number };
  readonly failedLastHour: number;
}

describe("what system 2 asks MongoDB about its jobs", () => {
  let url: string;
  let hf: Holdfast;
  let terminal: Terminal;

  beforeAll(async () => {
    const place = new URL(await serverUrl("mongodb"));
    place.pathname = `/system2_${randomBytes(6).toString("hex")}`;
    url = place.href;
    terminal = await Terminal.open();
    hf = new Holdfast({ store: mongodbStore({ url }), work: { concurrency: 4 } }) as Holdfast;
    hf.define({ type: "import.xlsx.customers", run: () => "done" });
    hf.define({
      ...{ type: "send.email", retry: { maxAttempts: 2, baseMs: 1, jitter: 0 } },
      run: () => Promise.reject(new Error("no mail")),
    });
    const ids: string[] = [];
    for (const type of [...Array<string>(7).fill("import.xlsx.customers"), "send.email"]) {
      ids.push((await hf.enqueue(type, { n: ids.length })).id);
    }
    await hf.enqueue("send.email", { n: -1 }, { delayMs: 3_600_000 });
    await hf.work();
    for (const id of ids) await hf.waitFor(id, { timeoutMs: 20_000 });
    // Figures are stored when a process closes; this one only asks from now on.
    await hf.close();
    hf = new Holdfast({ store: mongodbStore({ url }) }) as Holdfast;
  });
  afterAll(async () => {
    await hf?.close();
    await terminal?.close();
  });

  const asked = async <T>(...argv: string[]) => {
    const ran = await terminal.run([...argv, "--url", url, "--json"]);
    expect(ran, ran.err).toMatchObject({ code: 0 });
    return JSON.parse(ran.out) as T;
  };

  it("total jobs by status are those of holdfast queues", async () => {
    const answer = await asked<unknown>("queues");
    const jobs = async (status: "succeeded" | "dead" | "queued") =>
      (await hf.jobs({ status, limit: 100 })).jobs.length;
    expect([await jobs("succeeded"), await jobs("dead"), await jobs("queued")]).toEqual([7, 1, 1]);
    expect(JSON.stringify(answer)).toMatch(/"succeeded":7/);
    expect(JSON.stringify(answer)).toMatch(/"dead":1/);
  });

  it("the average time of processing is that of holdfast stats", async () => {
    const { finished, runMs } = await asked<Figures>("stats", "--type", "import.xlsx.customers");
    expect(finished).toMatchObject({ succeeded: 7, dead: 0 });
    const { jobs } = await hf.jobs({ status: "succeeded", limit: 100 });
    const spans = jobs.map((job) => job.finishedAt!.getTime() - job.startedAt!.getTime());
    // The store's span has the way to the store and back in it, too.
    expect(runMs.avg).toBeLessThanOrEqual(Math.max(...spans) + 1);
    expect(runMs.avg).toBeGreaterThanOrEqual(0);
  });

  it("failed jobs of the last hour are those of holdfast stats, and holdfast dead names them", async () => {
    const { finished, failedLastHour } = await asked<Figures>("stats", "--last", "1h");
    // Two attempts of one job.
    expect([finished.dead, failedLastHour]).toEqual([1, 2]);
    const [dead] = (await hf.jobs({ status: "dead", limit: 10 })).jobs;
    const listed = await asked<unknown>("jobs", "--status", "failed", "--since", "1h");
    expect(JSON.stringify(listed)).toContain(dead!.id);
  });
});
