/** A key that somebody's open transaction has, seen from the front door. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import { KeyBusyError } from "../../core/errors.ts";
import { Holdfast } from "../../holdfast.ts";
import { postgresStore } from "./index.ts";

let place: PostgresSchema;
let hf: Holdfast;
beforeAll(async () => {
  place = await postgresSchema();
  hf = new Holdfast({ store: postgresStore({ pool: place.pool, schema: place.schema }) });
});
afterAll(async () => {
  await hf.close();
  await place.drop();
});

const KEYED = { queue: "mail", idempotencyKey: "invoice:1" };

describe("an idempotency key that an open transaction is taking", () => {
  it("refuses the enqueue of that very key, and no other that travels with it", async () => {
    const tx = await place.connect();
    await hf.enqueue("invoice.send", {}, { queue: "mail" });
    await tx.query("BEGIN");
    const first = await hf.within(tx).enqueue("invoice.send", {}, KEYED);
    const answers = await Promise.allSettled([
      hf.enqueue("invoice.send", {}, { queue: "mail" }),
      hf.enqueue("invoice.send", {}, KEYED),
      hf.enqueue("invoice.send", {}, { queue: "mail", idempotencyKey: "invoice:2" }),
      hf.enqueue("invoice.send", {}, { queue: "other", idempotencyKey: "invoice:1" }),
    ]);
    const taken = answers.map((answer) =>
      answer.status === "fulfilled" ? answer.value.status : (answer.reason as unknown),
    );
    expect(taken).toEqual(["added", expect.any(KeyBusyError), "added", "added"]);
    expect((taken[1] as KeyBusyError).isRetryable).toBe(true);
    await tx.query("COMMIT");
    const { id, status } = await hf.enqueue("invoice.send", {}, KEYED);
    expect({ id, status }).toEqual({ id: first.id, status: "duplicate" });
  });
});
