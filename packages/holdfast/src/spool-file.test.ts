import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { StoreUnavailableError } from "./core/errors.ts";
import type { Store } from "./core/store.ts";
import { Holdfast } from "./holdfast.ts";
import { memoryStore } from "./stores/memory/index.ts";

const logger = { debug() {}, info() {}, warn() {}, error() {} };

let folder: string;
let spool: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-spool-file-"));
  spool = join(folder, "spool.db");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A store that cannot even be opened. */
function away(): Store {
  return {
    ...memoryStore(),
    async open() {
      throw new StoreUnavailableError("away", { mayHaveHappened: true });
    },
  };
}

it("a file by its name keeps jobs from one process to the next", async () => {
  const first = new Holdfast({ store: away(), resilient: { spool }, logger });
  const receipt = await first.enqueue("work", { n: 1 }, { queue: "q", tags: ["a"] });
  expect(receipt).toMatchObject({ status: "spooled", jobStatus: "queued" });
  expect(first.health()).toMatchObject({ ok: false, spooled: 1 });
  await first.close();

  const second = new Holdfast({ store: memoryStore(), resilient: { spool }, logger });
  second.define({ type: "work", queue: "q", run: (job) => job.payload });
  await second.work();
  // Its spool is looked at behind what it does first.
  while (second.health().spooled !== 0) await new Promise(setImmediate);
  expect(await second.waitFor(receipt, { timeoutMs: 10_000 })).toMatchObject({
    status: "succeeded",
    result: { n: 1 },
    job: { tags: ["a"] },
  });
  await second.close();
});

it("a spool that cannot be opened is said at the first enqueue", async () => {
  const options = { store: memoryStore(), resilient: { spool: folder }, logger } as const;
  const hf = new Holdfast(options);
  await expect(hf.enqueue("work", null, { queue: "q" })).rejects.toMatchObject({
    code: "HOLDFAST_STORE_OPEN",
  });
  await hf.close();
});
