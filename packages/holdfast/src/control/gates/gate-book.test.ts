import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { systemRuntime } from "../../engine/runtime.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import { GateBook } from "./gate-book.ts";
import { checkGate } from "./gate-options.ts";
import { RULES } from "./gate-records.ts";

describe("the gates that a process knows", () => {
  it("are not known while they are being read, so that no job passes by them", async () => {
    const store = memoryStore();
    await store.open();
    const { records } = store;
    const gate = {
      name: "crm",
      id: "1",
      forced: "auto",
      ...checkGate({ queue: "crm", cooldown: true }),
    };
    await records.swap([
      { key: `${RULES}crm`, expect: null, value: JSON.stringify(gate), ttlMs: null },
    ]);
    const { promise, resolve } = Promise.withResolvers<void>();
    let changes = 0;
    const host = {
      runtime: systemRuntime(),
      workers: { onChange: () => () => {} },
      records: {
        ...records,
        async scan(request: Parameters<typeof records.scan>[0]) {
          await promise;
          return records.scan(request);
        },
      },
    } as unknown as Pick<ExtensionHost, "records" | "runtime" | "workers">;
    const book = new GateBook(host, { whole: (queue) => queue }, () => (changes += 1));
    const read = book.read();
    expect([book.isRead, book.mayConcernJobs]).toEqual([false, true]);
    const second = book.read();
    resolve();
    await Promise.all([read, second]);
    expect([book.isRead, changes]).toEqual([true, 1]);
    expect(book.ofQueue("crm")).toHaveLength(1);
  });
});
