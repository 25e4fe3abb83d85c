/** Records of applications: compare-and-set, a prefix of their own, bounds. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  InvalidCursorError,
  InvalidNameError,
  InvalidOptionError,
  InvalidPayloadError,
  PayloadTooLargeError,
} from "../../packages/holdfast/src/index.ts";
import { EVERY_STORE, openWorld, type World } from "./world.ts";

describe.each(EVERY_STORE)("records of applications on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  it("a record changes only for the caller that knows its version", async () => {
    const [one, other] = [world.process(), world.process()];
    const key = "crm/cursor of tenant 7 äß";
    const [added] = await one.hf.records.swap([{ key, expect: null, value: { page: 1 } }]);
    expect(added?.swapped).toBe(true);
    const seen = await other.hf.records.get<{ page: number }>(key);
    expect(seen).toMatchObject({ key, value: { page: 1 }, expiresAt: null });
    const expect_ = seen!.version;
    const swaps = [one, other].map(({ hf }, at) =>
      hf.records.swap([{ key, expect: expect_, value: { page: 2 + at } }]),
    );
    const results = (await Promise.all(swaps)).flat();
    expect(results.filter(({ swapped }) => swapped)).toHaveLength(1);
    const lost = results.find(({ swapped }) => !swapped);
    expect(lost).toMatchObject({ current: { key } });
    const now = (await one.hf.records.get(key))!;
    await one.hf.records.swap([{ key, expect: now.version, value: null }]);
    expect(await other.hf.records.get(key)).toBeNull();
  });

  it("a record with a lifetime is gone after it", async () => {
    const { hf } = world.process();
    await hf.records.swap([{ key: "lease", expect: null, value: "mine", ttlMs: 5_000 }]);
    expect((await hf.records.get("lease"))?.expiresAt).toBeInstanceOf(Date);
    await world.advance(5_001);
    expect(await hf.records.get("lease")).toBeNull();
  });

  it("no key and no prefix reaches the records of Holdfast itself", async () => {
    const { hf } = world.process();
    hf.handle("work", () => {});
    await hf.work({ queues: ["mail"] });
    for (const key of ["holdfast/queues/mail", "../holdfast/workers/changed", "app/x"]) {
      await hf.records.swap([{ key, expect: null, value: 1 }]);
    }
    const { records } = await world.store.records.scan({ prefix: "", limit: 100 });
    const own = records.filter(({ key }) => key.startsWith("app/")).map(({ key }) => key);
    expect(own).toEqual([
      "app/../holdfast/workers/changed",
      "app/app/x",
      "app/holdfast/queues/mail",
    ]);
    const all = await hf.records.list();
    expect(all.records.map(({ key }) => key)).toEqual(own.map((key) => key.slice(4)));
    const cursor = "holdfast/workers/";
    await expect(hf.records.list({ cursor })).rejects.toThrow(InvalidCursorError);
    expect(await hf.queues.get("mail")).toMatchObject({ keep: {} });
  });

  it("records are listed by prefix, page by page", async () => {
    const { hf } = world.process();
    const keys = Array.from({ length: 7 }, (_, at) => `tenant/${at}`);
    await hf.records.swap([...keys, "other"].map((key) => ({ key, expect: null, value: [key] })));
    const first = await hf.records.list<string[]>({ prefix: "tenant/", limit: 5 });
    const rest = await hf.records.list<string[]>({
      ...{ prefix: "tenant/", limit: 5, cursor: first.nextCursor },
    });
    expect([...first.records, ...rest.records].map(({ value }) => value[0])).toEqual(keys);
    expect(rest.nextCursor).toBeNull();
    expect((await hf.records.read(["other", "none"])).map((one) => one?.value ?? null)).toEqual([
      ...[["other"], null],
    ]);
    expect(await hf.records.read([])).toEqual([]);
    expect(await hf.records.swap([])).toEqual([]);
  });

  it("what is too large, nameless or misspelt is refused, and nothing is written", async () => {
    const { hf } = world.process();
    const swap = (given: object) =>
      hf.records.swap([{ key: "k", expect: null, value: 1, ...given }] as never);
    await expect(swap({ key: "" })).rejects.toThrow(InvalidNameError);
    await expect(swap({ key: "a\u0000b" })).rejects.toThrow(InvalidNameError);
    await expect(swap({ key: "k".repeat(513) })).rejects.toThrow(InvalidNameError);
    await expect(swap({ value: "x".repeat(65_537) })).rejects.toThrow(PayloadTooLargeError);
    await expect(swap({ value: () => 1 })).rejects.toThrow(InvalidPayloadError);
    await expect(swap({ value: undefined })).rejects.toThrow(InvalidOptionError);
    await expect(swap({ expect: "1" })).rejects.toThrow(InvalidOptionError);
    await expect(swap({ ttl: 3 })).rejects.toThrow(/ttlMs/);
    await expect(swap({ ttlMs: 0 })).rejects.toThrow(InvalidOptionError);
    await expect(hf.records.swap("k" as never)).rejects.toThrow(InvalidOptionError);
    await expect(hf.records.read(Array(101).fill("k") as string[])).rejects.toThrow(/100/);
    await expect(hf.records.list({ limit: 201 })).rejects.toThrow(InvalidOptionError);
    expect((await hf.records.list()).records).toEqual([]);
  });

  it("an external key is the same for every attempt of a job, and another for every name and job", async () => {
    const { hf } = world.process();
    const keys: string[] = [];
    hf.define({
      ...{ type: "sync", queue: "mail", retry: { baseMs: 10, jitter: 0 } },
      run(job) {
        keys.push(job.externalKey("contact"), job.externalKey("deal"));
        expect(() => job.externalKey("")).toThrow(InvalidOptionError);
        if (job.attempt === 1) throw new Error("again");
      },
    });
    await hf.enqueue("sync", 1);
    await hf.work({ queues: ["mail"] });
    await world.advance(3_000);
    await hf.enqueue("sync", 2);
    await world.advance(3_000);
    expect(keys).toHaveLength(8);
    expect(keys.slice(2, 4)).toEqual(keys.slice(0, 2));
    expect(new Set(keys).size).toBe(4);
    expect(keys[0]).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });
});
