/** What a caller misspells is refused with the nearest known name, wherever it is said: never ignored. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../packages/holdfast/src/connect.ts";
import { closeOnSignals, Holdfast, InvalidOptionError } from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { mongodbStore } from "../../packages/holdfast/src/stores/mongodb/index.ts";
import { postgresStore } from "../../packages/holdfast/src/stores/postgres/index.ts";
import { checkRedis, redisStore } from "../../packages/holdfast/src/stores/redis/index.ts";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";

let hf: Holdfast;
beforeEach(() => {
  hf = new Holdfast({ store: memoryStore() });
});
afterEach(() => hf.close());

/** As JavaScript would call it: the compiler sees none of these mistakes. */
const wrong = (value: unknown) => value as never;

async function refusal(call: () => unknown): Promise<string> {
  const error = await Promise.resolve()
    .then(call)
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InvalidOptionError);
  return (error as Error).message;
}

describe("a name that is not known", () => {
  it("in the target of a pause is refused, and the queue goes on", async () => {
    const target = wrong({ queue: "mail", groupKey: "tenant-7" });
    expect(await refusal(() => hf.pause(target))).toContain('did you mean "group"?');
    expect(await refusal(() => hf.resume(target))).toContain('did you mean "group"?');
    expect(await refusal(() => hf.limit(target, { maxActive: 1 }))).toContain('"group"');
    hf.handle("email.send", () => "sent");
    const receipt = await hf.enqueue("email.send", null, { queue: "mail" });
    await hf.work({ queues: ["mail"] });
    expect((await hf.waitFor(receipt)).status).toBe("succeeded");
  });

  it("in any options is refused with the nearest one", async () => {
    const { id } = await hf.enqueue("email.send", null, { queue: "mail" });
    const calls: Readonly<Record<string, readonly [string, () => unknown]>> = {
      waitFor: ["timeoutMs", () => hf.waitFor(id, wrong({ timeout: 5 }))],
      limit: ["maxActive", () => hf.limit("mail", wrong({ maxActiv: 5 }))],
      pause: ["forMs", () => hf.pause("mail", wrong({ form: 5 }))],
      cancel: ["reason", () => hf.cancel(id, wrong({ resaon: "x" }))],
      retry: ["delayMs", () => hf.retry(id, wrong({ delay: 5 }))],
      remove: ["reason", () => hf.remove(id, wrong({ resaon: "x" }))],
      jobs: ["status", () => hf.jobs(wrong({ state: "dead" }))],
      lines: ["limit", () => hf.lines("mail", wrong({ limits: 5 }))],
      ledger: ["kind", () => hf.ledger(wrong({ kinds: "audit" }))],
      work: ["concurrency", () => hf.work(wrong({ queues: ["mail"], concurency: 5 }))],
      close: ["graceMs", () => hf.close(wrong({ grace: 5 }))],
      closeOnSignals: ["graceMs", () => closeOnSignals(hf, wrong({ grace: 5 }))],
      retention: [
        "maxAgeMs",
        () => new Holdfast({ store: memoryStore(), retention: { dead: wrong({ maxAge: 5 }) } }),
      ],
      "retention of a queue": [
        "succeeded",
        () =>
          new Holdfast({
            store: memoryStore(),
            retention: { queues: { q: wrong({ succeded: {} }) } },
          }),
      ],
      memoryStore: ["remembersMs", () => memoryStore(wrong({ rememberMs: 5 }))],
      sqliteStore: ["file", () => sqliteStore(wrong({ files: "x.db" }))],
      postgresStore: ["schema", () => postgresStore(wrong({ url: "postgres://h/d", shema: "x" }))],
      redisStore: ["prefix", () => redisStore(wrong({ url: "redis://h", perfix: "x" }))],
      checkRedis: ["url", () => checkRedis(wrong({ uri: "redis://h" }))],
      mongodbStore: ["prefix", () => mongodbStore(wrong({ url: "mongodb://h", perfix: "x" }))],
    };
    for (const [name, [nearest, call]] of Object.entries(calls)) {
      expect(await refusal(call), name).toContain(`did you mean "${nearest}"?`);
    }
    const worker = await hf.work({ queues: ["mail"] });
    expect(await refusal(() => worker.stop(wrong({ grace: 5 })))).toContain('"graceMs"');
  });

  it("of an event is refused, also in the words of other job systems", async () => {
    expect(await refusal(() => hf.on(wrong("completed"), () => {}))).toContain('"succeeded"');
    expect(await refusal(() => hf.on(wrong("faild"), () => {}))).toContain('"failed"');
    expect(await refusal(() => hf.on(wrong("toString"), () => {}))).toContain("there is no event");
    expect(await refusal(() => hf.use({ on: wrong({ active: () => {} }) }))).toContain('"started"');
  });

  it("among the parameters of a URL is refused", async () => {
    const urls = {
      "postgres://u:secret@localhost/db?shema=jobs": 'did you mean "schema"?',
      "redis://:secret@localhost/0?perfix=jobs": 'did you mean "prefix"?',
      "sqlite:jobs.db?mode=ro": "takes no parameters",
      "memory:jobs": "has no name",
    };
    for (const [url, says] of Object.entries(urls)) {
      const message = await refusal(() => connect(url));
      expect(message, url).toContain(says);
      expect(message).not.toContain("secret");
    }
  });

  it("of a status, an order or a category is refused with the nearest one", async () => {
    expect(await refusal(() => hf.jobs({ status: wrong("deed") }))).toContain(
      'did you mean "dead"?',
    );
    expect(await refusal(() => hf.jobs({ order: wrong("new") }))).toContain(
      'did you mean "newest"?',
    );
  });
});

describe("what is given in place of a store", () => {
  it("is named: a URL, a promise of connect, a Holdfast", async () => {
    const make = (store: unknown) => () => new Holdfast({ store: wrong(store) });
    expect(await refusal(make("sqlite:jobs.db"))).toContain("connect(url)");
    const opening = connect("memory:");
    expect(await refusal(make(opening))).toContain("await connect(url)");
    const connected = await opening;
    expect(await refusal(make(connected))).toContain("a Holdfast already");
    expect(await refusal(() => connect("memory:", wrong({ store: memoryStore() })))).toContain(
      "leave store out",
    );
    await connected.close();
  });

  it("by the URL of a store never shows a password", async () => {
    const url = "postgres://app:secret@localhost/db";
    for (const make of [postgresStore, redisStore, mongodbStore, sqliteStore, memoryStore]) {
      expect(await refusal(() => make(wrong(url)))).not.toContain("secret");
    }
    expect(await refusal(() => postgresStore(wrong(url)))).toContain("{ url,");
    expect(await refusal(() => connect("postgres://app:sec ret@:host:x/db"))).not.toContain("sec");
  });
});
