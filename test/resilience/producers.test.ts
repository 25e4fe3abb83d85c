/** Producers on real servers that go away and come back. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  Holdfast,
  StoreUnavailableError,
  type Resilience,
} from "../../packages/holdfast/src/index.ts";
import { SERVERS, type OutageServer } from "./outage-servers.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

describe.each(SERVERS)("a producer on $name", ({ start, store }) => {
  let server: OutageServer;
  let folder: string;
  beforeAll(async () => {
    server = await start();
    folder = await mkdtemp(join(tmpdir(), "holdfast-spool-"));
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** One that never works: what is stored stays where it is. */
  function producer<How extends Resilience>(resilient: How): Holdfast<readonly [], How> {
    return new Holdfast({ store: store(server.url), resilient, logger: silent });
  }

  async function storedOf(queue: string): Promise<unknown[]> {
    const hf = producer("inline");
    const payloads: unknown[] = [];
    for (let cursor: string | null = null; ;) {
      const page = await hf.jobs({ queue, order: "oldest", limit: 200, cursor });
      payloads.push(...page.jobs.map(({ payload }) => payload));
      cursor = page.nextCursor;
      if (cursor === null) break;
    }
    await hf.close();
    return payloads;
  }

  it.each(["fast", "kill"] as const)(
    "a job runs in its caller or is stored, never both, around an outage (%s)",
    async (how) => {
      const queue = `inline-${how}`;
      const hf = producer("inline");
      const ran: unknown[] = [];
      hf.define({ type: queue, queue, run: (job) => void ran.push(job.payload) });
      const told = { added: [] as number[], ran: [] as number[], doubtful: [] as number[] };
      let n = 0;
      const enqueueOne = async () => {
        const payload = (n += 1);
        try {
          const { status } = await hf.enqueue(queue, payload);
          told[status as "added" | "ran"].push(payload);
        } catch (error) {
          if (!(error instanceof StoreUnavailableError && error.mayHaveHappened)) throw error;
          told.doubtful.push(payload);
        }
      };
      await enqueueOne();
      expect(told.added).toEqual([1]);
      const callers = Promise.all(Array.from({ length: 20 }, enqueueOne));
      await server.halt(how);
      await callers;
      while (told.ran.length < 20) await enqueueOne();
      await server.resume();
      const added = told.added.length;
      while (told.added.length < added + 3) await enqueueOne();
      await hf.close();

      expect(ran).toEqual(told.ran);
      const stored = (await storedOf(queue)) as number[];
      expect(stored.filter((payload) => told.ran.includes(payload))).toEqual([]);
      expect(told.added.filter((payload) => !stored.includes(payload))).toEqual([]);
      expect(new Set(stored).size).toBe(stored.length);
    },
  );

  it("what was spooled arrives once each, in order, although the producer ended meanwhile", async () => {
    const queue = "spooled";
    const spool = join(folder, "spool.db");
    let hf = producer({ spool });
    const enqueue = async (payload: number) =>
      (await hf.enqueue("note", payload, { queue })).status;
    expect(await enqueue(0)).toBe("added");
    await server.halt("fast");
    for (let n = 1; n <= 120; n += 1) expect(await enqueue(n)).toBe("spooled");
    await hf.close();
    hf = producer({ spool });
    for (let n = 121; n <= 150; n += 1) expect(await enqueue(n)).toBe("spooled");
    expect(hf.health()).toMatchObject({ ok: false, spooled: 150 });
    await server.resume();
    let n = 151;
    while ((await enqueue(n)) === "spooled") n += 1;
    await hf.close();
    expect(await storedOf(queue)).toEqual(Array.from({ length: n + 1 }, (_, at) => at));
  });
});
