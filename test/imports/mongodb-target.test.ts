/** What only MongoDB makes necessary: the transaction of a process that is gone, and a server without transactions. */
import { MongoClient, type ClientSession } from "mongodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ImportOvertakenError } from "../../packages/imports/src/errors.ts";
import { mongodbTarget } from "../../packages/imports/src/targets/mongodb-target.ts";
import { targetPlace, type TargetPlace } from "./target-places.ts";

const beginning = { job: "job", type: "people", file: "f" };
const batch = {
  ...{ job: "job", after: 0, upTo: 2, totalRows: 1, keep: 10, failures: [] },
  rows: [{ row: 2, key: { email: "ann" }, values: { email: "ann", n: 1 } }],
};

describe("a replica set", () => {
  let place: TargetPlace;
  let client: MongoClient;
  beforeAll(async () => {
    place = await targetPlace("mongodb");
    client = new MongoClient(place.url);
  });
  afterAll(async () => {
    await client?.close();
    await place?.drop();
  });

  it("lets the next attempt go on at once, though one before it died within a batch", async () => {
    const started: ClientSession[] = [];
    const startSession = client.startSession.bind(client);
    client.startSession = (options) => {
      const session = startSession(options);
      // The driver starts some of its own, each with options.
      if (options === undefined) started.push(session);
      return session;
    };
    const dead = mongodbTarget({ db: client.db(), collection: "people" });
    await dead.prepare(["email"]);
    await dead.begin({ ...beginning, fence: 1 });
    const [session] = started;
    if (!session) return expect.unreachable("an attempt has a session of its own");
    // As far as a batch comes before a kill: its rows and its count are written, and locked.
    session.startTransaction();
    const [people, imports] = ["people", "holdfast_import"].map((one) =>
      client.db().collection<{ _id: string }>(one),
    );
    await people?.updateOne({ _id: "x" }, { $set: { email: "ann" } }, { session, upsert: true });
    await imports?.updateOne({ _id: "job" }, { $set: { upTo: 2 } }, { session });

    const next = place.target();
    // The server itself would keep those locks for a minute: longer than this test may take.
    const state = await next.begin({ ...beginning, fence: 2 });
    expect(state).toMatchObject({ upTo: 0, inserted: 0 });
    expect(await next.write({ ...batch, fence: 2 })).toMatchObject({ inserted: 1 });
    await expect(session.commitTransaction()).rejects.toThrow();
    await expect(dead.write({ ...batch, fence: 1 })).rejects.toThrow(ImportOvertakenError);
    await next.finish({ job: "job", fence: 2, after: 2, notes: "" });
    expect(await place.rows()).toEqual([{ email: "ann", n: 1 }]);
    expect(await next.caution?.()).toBeNull();
    await next.close();
    await dead.close();
  });

  it("keeps no session of every attempt that failed for good", async () => {
    const open = new Set<ClientSession>();
    const other = new MongoClient(place.url);
    const startSession = other.startSession.bind(other);
    other.startSession = (options) => {
      const session = startSession(options);
      if (options === undefined) open.add(session);
      session.once("ended", () => open.delete(session));
      return session;
    };
    const target = mongodbTarget({ db: other.db(), collection: "people" });
    const last = 249;
    for (let at = 0; at <= last; at += 1) {
      await target.begin({ ...beginning, job: `dead-${at}`, fence: 1 });
    }
    expect(open.size).toBe(200);
    // What is left of the first is no session that anybody would end.
    const imports = other.db().collection<{ _id: string; session: unknown }>("holdfast_import");
    const sessionOf = async (job: string) => (await imports.findOne({ _id: job }))?.session;
    expect(await sessionOf("dead-0")).toBeNull();
    expect(await sessionOf(`dead-${last}`)).not.toBeNull();
    await target.close();
    expect(open.size).toBe(0);
    await other.close();
  });
});

describe("a single MongoDB server", () => {
  let place: TargetPlace;
  beforeAll(async () => void (place = await targetPlace("mongodb-standalone")));
  afterAll(async () => place?.drop());

  it("is told to the log as one that has no transactions", async () => {
    const target = place.target();
    expect(await target.caution?.()).toMatch(
      /^collection people .* no transactions: .*replica set/,
    );
    await target.close();
  });

  it("takes a batch again that an attempt before wrote, and counts it as that one would have", async () => {
    const before = place.target();
    await before.prepare(["email"]);
    await before.begin({ ...beginning, fence: 1 });
    // Killed after its rows, before its count: what it inserted is there, and its plan says so.
    const client = new MongoClient(place.url);
    await client
      .db()
      .collection<{ _id: string }>("holdfast_import")
      .updateOne(
        { _id: "job" },
        { $set: { plan: { after: 0, upTo: 2, fresh: ['[["email","ann"]]'] } } },
      );
    await client.db().collection("people").insertOne({ email: "ann", n: 1 });
    const next = place.target();
    await next.begin({ ...beginning, fence: 2 });
    expect(await next.write({ ...batch, fence: 2 })).toMatchObject({ inserted: 1, updated: 0 });
    await expect(before.write({ ...batch, fence: 1 })).rejects.toThrow(ImportOvertakenError);
    expect(await place.rows()).toEqual([{ email: "ann", n: 1 }]);
    for (const one of [before, next]) await one.close();
    await client.close();
  });
});
