/** A storm of failures cannot fill the memory of a server: the oldest entries go when one is added. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startOwnRedis, type OwnRedis } from "../../../../../test/servers/redis.ts";
import { insertSome } from "../../testing/conformance/new-job.ts";
import { die, settlement } from "../../testing/conformance/settling.ts";
import { takeExactly } from "../../testing/conformance/take.ts";
import { redisStore } from "./index.ts";

const MOST = 10_000;
let server: OwnRedis;
beforeAll(async () => void (server = await startOwnRedis()));
afterAll(() => server.stop());

function failure(n: number, kind = "failure") {
  return {
    ...{ id: `${kind}:${n}`, kind, jobId: `job-${n}`, type: "t", queue: "q", group: null },
    ...{ category: "unknown", state: "open", body: "{}", at: 1_000 + n },
  };
}

describe("the ledger on Redis", () => {
  it("keeps the newest ten thousand failures, and every audit", { timeout: 60_000 }, async () => {
    const store = redisStore({ url: server.url });
    await store.open();
    await store.ledger.append([failure(0, "audit")]);
    for (let from = 0; from < MOST + 100; from += 100) {
      await store.ledger.append(Array.from({ length: 100 }, (_, n) => failure(from + n)));
    }
    expect(await store.ledger.count({ kind: "failure" }, 2 * MOST)).toBe(MOST);
    expect(await store.ledger.count({ kind: "audit" }, 10)).toBe(1);
    expect(await store.ledger.count({ ids: ["failure:99"] }, 1)).toBe(0);
    expect(await store.ledger.count({ ids: ["failure:100"] }, 1)).toBe(1);
    expect(await store.ledger.count({ jobId: "job-99" }, 1)).toBe(0);
    // Those that come with a settle, too.
    await insertSome(store, 1);
    const [job] = await takeExactly(store, 1);
    const entry = { ...failure(MOST + 100), at: null };
    await store.settle([{ ...settlement(job!, die()), entries: [entry] }]);
    expect(await store.ledger.count({ kind: "failure" }, 2 * MOST)).toBe(MOST);
    expect(await store.ledger.count({ ids: ["failure:100"] }, 1)).toBe(0);
    await store.close();
  });
});
