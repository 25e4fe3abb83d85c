/** What the views of the SQL stores are asked to show. */
import type { LedgerEntry } from "../../packages/holdfast/src/core/ledger.ts";
import type { Holdfast } from "../../packages/holdfast/src/index.ts";

export const UUID = "5f0c1c5e-7b1a-4c3e-9a55-0123456789ab";

/** One job that fails twice, and one that runs under a lock. */
export async function runOnce(hf: Holdfast): Promise<{ failed: string; done: string }> {
  const payload = { companyId: UUID, apiKey: "k-1" };
  const fails = hf.define({
    type: "fails",
    retry: { maxAttempts: 2, baseMs: 1, jitter: 0 },
    run() {
      throw new Error("no");
    },
  });
  const once = hf.define({ type: "once", lock: { key: "once", scope: () => "all" }, run() {} });
  const worker = await hf.work();
  const failed = await fails.enqueue(payload);
  const done = await once.enqueue(payload);
  await hf.waitFor(failed);
  await hf.waitFor(done);
  // A stop waits for what is on its way: the record of the lock follows after the settle.
  await worker.stop();
  for (let state = ""; state !== "completed";) {
    state = (await hf.locks.list()).locks[0]?.state ?? "";
  }
  return { failed: failed.id, done: done.id };
}

export function newFailure(n: number, body: string): LedgerEntry {
  return {
    ...{ id: `failure:${n}`, kind: "failure", jobId: String(n).padStart(3, "0"), type: "t" },
    ...{ queue: "q", group: null, category: "unknown", company: "no uuid", isFinal: true },
    ...{ state: "open", body, at: n === 0 ? 8_640_000_000_000_000 : n },
  };
}

/** As a writer that means no good would have them. */
export function hostileBodies(): string[] {
  const payloads = [
    ...['"a\\u0000b"', '"\\ud800"', "1e308", "-0", "123456789012345678901234567890"],
    ...["1e400000", `${"[".repeat(8_000)}${"]".repeat(8_000)}`, '{"a":1,"a":2}', '"\\\\u0000"'],
    ...['{"\\u0000":1}', "null", '"\'; DROP TABLE x; --"', JSON.stringify("💥".repeat(4_000))],
  ];
  return [
    ...payloads.map(
      (payload) => `{"attempt":1,"maxAttempts":2,"message":"m","payload":${payload}}`,
    ),
    ...["not json", "", "7", "[]", '{"attempt":"many","maxAttempts":1e99,"message":{"a":1}}'],
  ];
}
