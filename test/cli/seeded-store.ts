/** A SQLite file with a bit of everything in it, of which each test gets a copy. */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Holdfast } from "../../packages/holdfast/src/index.ts";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";
import type { AdoptedJob } from "../../packages/holdfast/src/core/job.ts";

export const QUEUED = "01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d21";
export const DEAD = "01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d22";
export const CANCELLED = "01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d23";
export const FINGERPRINT = "fp-econnreset";

const JOBS = `import type { Holdfast } from "holdfast";
export function jobs(hf: Holdfast) {
  hf.define({ type: "hello.say", run: (job) => "Hello " + (job.payload as { name: string }).name });
  hf.define({ type: "email.send", queue: "mail", run: () => {} });
}
`;

export function adopted(patch: Partial<AdoptedJob> & Pick<AdoptedJob, "id">): AdoptedJob {
  const at = Date.now() - 60_000;
  return {
    ...{ queue: "mail", group: "", type: "email.send", status: "queued", priority: 100 },
    ...{
      payload: '{"to":"ann@example.com"}',
      result: null,
      attempts: 0,
      maxAttempts: 5,
      crashes: 0,
    },
    ...{ fence: 0, error: null, reason: null, checkpoint: null, steps: [], logs: [], history: [] },
    ...{ dedupe: null, tags: [], meta: null, trace: null, createdAt: at, runAt: at },
    ...{ startedAt: null, finishedAt: null },
    ...patch,
  };
}

/** Makes `seed.db` in the folder. */
export async function makeSeed(folder: string): Promise<void> {
  const store = sqliteStore({ file: join(folder, "seed.db"), synchronous: "normal" });
  await store.open();
  const finishedAt = Date.now() - 30_000;
  const message = "connect \u001b[31mECONNRESET\u001b[0m 10.0.0.1:25";
  await store.adopt([
    adopted({ id: QUEUED, tags: ["beta"], group: "tenant-7", runAt: Date.now() + 3_600_000 }),
    adopted({
      ...{ id: DEAD, status: "dead", attempts: 5, reason: "failed", finishedAt },
      error: { category: "network", message, stack: null, fingerprint: FINGERPRINT },
    }),
    adopted({ id: CANCELLED, status: "cancelled", reason: "not needed", finishedAt }),
  ]);
  await store.close();
}

/** A copy of it, and a module of jobs beside it. */
export function useSeed(from: string, folder: string): string {
  copyFileSync(join(from, "seed.db"), join(folder, "holdfast.db"));
  writeFileSync(join(folder, "jobs.ts"), JOBS);
  return join(folder, "holdfast.db");
}

export function holdfastOn(file: string): Holdfast {
  return new Holdfast({ store: sqliteStore({ file, synchronous: "normal" }) }) as Holdfast;
}
