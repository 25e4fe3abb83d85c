/**
 * Jobs in one store, the ledger in another that is away for a while, a worker killed in the middle.
 * `HOLDFAST_LEDGER_OUTAGE_MS=20000` keeps it away, and the load up, for at least so long.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  Holdfast,
  PermanentError,
  type Receipt,
  type Store,
} from "../../packages/holdfast/src/index.ts";
import { JOB_STORES, serverOf, type OutageServer } from "./outage-servers.ts";

/** Nobody waits for it here but the reader of a run that was asked to be long. */
const LONG = { timeout: 120_000 };
const OUTAGE_MS = Number(process.env["HOLDFAST_LEDGER_OUTAGE_MS"] ?? 0);
const WORKER = fileURLToPath(new URL("split-worker.ts", import.meta.url));

describe.each(JOB_STORES)("jobs in $name with a ledger in PostgreSQL", (kind) => {
  const { name, start, store } = kind;
  let jobs: OutageServer;
  let server: OutageServer;
  let hf: Holdfast;
  let ledger: Store;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    jobs = await start();
    server = await serverOf("PostgreSQL").start();
    hf = new Holdfast({ store: store(jobs.url) });
    ledger = serverOf("PostgreSQL").store(server.url);
    await ledger.open();
  });
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await hf.close();
    await ledger.close();
    await server.stop();
    await jobs.stop();
  });

  async function startWorker(): Promise<ChildProcess> {
    const child = fork(WORKER, [name, jobs.url, server.url], { execArgv: [] });
    children.push(child);
    await once(child, "message");
    return child;
  }

  async function enqueue(count: number): Promise<Receipt[]> {
    const items = Array.from({ length: count }, (_, n) => ({ type: "work", payload: n }));
    const answers = await hf.enqueueAll(items.map((item) => ({ ...item, queue: "default" })));
    return answers as Receipt[];
  }

  async function areDead(receipts: readonly Receipt[]): Promise<void> {
    for (const receipt of receipts) {
      expect(await hf.waitFor(receipt, { timeoutMs: 20_000 })).toMatchObject({ status: "dead" });
    }
  }

  async function jobsInLedger(): Promise<(string | null)[]> {
    const jobs: (string | null)[] = [];
    for (let cursor: string | null = null; ;) {
      const page: Awaited<ReturnType<Store["ledger"]["read"]>> = await ledger.ledger.read(
        { kind: "failure" },
        { limit: 200, cursor },
      );
      jobs.push(...page.entries.map(({ jobId }) => jobId));
      cursor = page.nextCursor;
      if (cursor === null) return jobs;
    }
  }

  it("no job waits for the ledger, and no entry is lost or doubled", LONG, async () => {
    const first = await startWorker();
    const before = await enqueue(50);
    await areDead(before);

    await server.halt("fast");
    const awaySince = performance.now();
    const during = await enqueue(300);
    // Somewhere in the middle.
    await new Promise<void>((resolve) => {
      let ran = 0;
      first.on("message", () => (ran += 1) === 100 && resolve());
    });
    first.kill("SIGKILL");
    await once(first, "exit");
    const second = await startWorker();
    await areDead(during);
    while (performance.now() - awaySince < OUTAGE_MS) {
      const more = await enqueue(100);
      await areDead(more);
      during.push(...more);
    }
    expect(second.exitCode).toBeNull();

    await server.resume();
    const after = await enqueue(50);
    await areDead(after);
    const all = [...before, ...during, ...after].map(({ id }) => id);
    for (let found = 0; found < all.length; found = (await jobsInLedger()).length);
    expect((await jobsInLedger()).map(String).toSorted()).toEqual(all.toSorted());
    second.send("end");
    await once(second, "exit");
    expect(await jobsInLedger()).toHaveLength(all.length);

    // Whatever becomes of the jobs, the ledger tells.
    await kind.empty?.(jobs.url);
    await jobs.halt("kill");
    await jobs.resume();
    expect(await jobsInLedger()).toHaveLength(all.length);
  });

  it(
    "locks are with the ledger, which says after a flush what cannot be replayed",
    LONG,
    async () => {
      const split = new Holdfast({ store: store(jobs.url), ledger: kept() });
      let ran = 0;
      const once = split.define({
        ...{ type: "once", queue: "split", lock: { key: "once", scope: () => "all" } },
        run: () => void (ran += 1),
      });
      const dies = split.define({
        ...{ type: "dies", queue: "split" },
        run() {
          throw new PermanentError("no");
        },
      });
      const worker = await split.work();
      await split.waitFor(await once.enqueue(null));
      const dead = await dies.enqueue(null);
      await split.waitFor(dead);
      const failuresOf = async () =>
        (await split.failures.list({ jobId: dead.id, withJobs: true })).failures;
      await expect.poll(failuresOf, { timeout: 20_000 }).toMatchObject([{ job: "dead" }]);
      await expect
        .poll(async () => (await split.locks.list()).locks, { timeout: 20_000 })
        .toMatchObject([{ key: "once", state: "completed" }]);

      if (kind.empty) await kind.empty(jobs.url);
      else for (const { id } of (await split.jobs({ queue: "split" })).jobs) await split.remove(id);
      expect(await failuresOf()).toMatchObject([{ type: "dies", job: "gone" }]);
      await expect(split.retry(dead.id)).rejects.toThrow(/cannot be replayed/);
      // What is done is known, though the job that did it is gone.
      expect(await split.waitFor(await once.enqueue(null))).toMatchObject({
        ...{ status: "succeeded", result: { skipped: "already_completed" } },
      });
      expect(ran).toBe(1);
      await worker.stop();
      await split.close();
    },
  );

  /** The ledger that all tests read stays open. */
  function kept(): Store {
    return { ...ledger, close: async () => {} };
  }
});
