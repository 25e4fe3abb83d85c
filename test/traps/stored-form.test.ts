/** Payloads and results are judged as they are stored: what passes is what comes back. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  defineJob,
  Holdfast,
  PayloadValidationError,
  type Failure,
} from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";

let hf: Holdfast;
beforeEach(() => {
  hf = new Holdfast({ store: memoryStore() });
});
afterEach(() => hf.close());

const remind = defineJob({ type: "remind", payload: z.object({ at: z.date() }) });
const coerced = defineJob({ type: "coerced", payload: z.object({ at: z.coerce.date() }) });
const charge = defineJob({
  type: "charge",
  payload: z.object({ result: z.unknown() }),
  result: z.object({ chargeId: z.string().trim(), at: z.date().optional() }),
  retry: { maxAttempts: 5 },
});

describe("a payload", () => {
  it("with a Date for z.date() is refused at enqueue, with the remedy", async () => {
    const error = await hf.enqueue(remind, { at: new Date() }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PayloadValidationError);
    expect(String(error)).toContain("at: ");
    expect(String(error)).toContain("z.coerce.date()");
    expect((error as PayloadValidationError).issues).toMatchObject([{ path: "at" }]);
  });

  it("with a Date for z.coerce.date() comes back as a Date", async () => {
    const at = new Date("2030-01-01T00:00:00Z");
    hf.handle(coerced, (job) => job.payload.at.getTime());
    const receipt = await hf.enqueue(coerced, { at });
    await hf.work();
    expect(await hf.waitFor(receipt)).toMatchObject({ status: "succeeded", result: at.getTime() });
  });

  it("that is left out is judged as the null that is stored", async () => {
    const optional = defineJob({ type: "optional", payload: z.object({}).optional() });
    await expect(hf.enqueue(optional, undefined)).rejects.toThrow(PayloadValidationError);
    const nullable = defineJob({ type: "nullable", payload: z.object({}).nullish() });
    expect((await hf.enqueue(nullable, undefined)).status).toBe("added");
  });

  it("of a retry is judged like that of an enqueue", async () => {
    hf.handle(coerced, () => {});
    const receipt = await hf.enqueue(coerced, { at: new Date() });
    await hf.cancel(receipt.id);
    await expect(hf.retry(receipt.id, { payload: { at: {} } })).rejects.toThrow(
      PayloadValidationError,
    );
    expect(await hf.retry(receipt.id, { payload: { at: new Date() } })).toBe("retried");
  });
});

describe("a result", () => {
  async function end(result: unknown) {
    hf.handle(charge, (job) => job.payload.result as { chargeId: string });
    const receipt = await hf.enqueue(charge, { result });
    await hf.work();
    return hf.waitFor(receipt);
  }

  it("that breaks its schema fails the attempt for good, and says where", async () => {
    const done = await end({ chargeId: 7 });
    expect(done).toMatchObject({ status: "dead", reason: "validation" });
    const { error } = done as { readonly error: Failure };
    expect(error.category).toBe("validation");
    expect(error.message).toContain("the result of charge does not fit its schema: chargeId:");
    expect((await hf.job((done as { id: string }).id))?.attempts).toBe(1);
  });

  it("that was forgotten breaks its schema too", async () => {
    expect(await end(undefined)).toMatchObject({ status: "dead", reason: "validation" });
  });

  it("is stored as its schema makes it", async () => {
    expect(await end({ chargeId: " c-1 " })).toMatchObject({ result: { chargeId: "c-1" } });
  });

  it("is not asked of a handler that snoozes or cancels", async () => {
    hf.handle(charge, (job) => job.cancel("no longer needed"));
    const receipt = await hf.enqueue(charge, { result: null });
    await hf.work();
    expect(await hf.waitFor(receipt)).toMatchObject({ status: "cancelled" });
  });

  it("is judged in a caller's transaction before anything is settled there", async () => {
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(":memory:");
    const own = new Holdfast({ store: sqliteStore({ database }) });
    own.handle(charge, async (job) => {
      const { result } = job.payload as { result: { chargeId: string } };
      database.exec("BEGIN");
      try {
        await job.settleWithin(database, { result });
        database.exec("COMMIT");
      } catch (error) {
        database.exec("ROLLBACK");
        throw error;
      }
      return result;
    });
    await own.work({ concurrency: 1 });
    const bad = await own.enqueue(charge, { result: { chargeId: 7 } });
    expect(await own.waitFor(bad)).toMatchObject({ status: "dead", reason: "validation" });
    const good = await own.enqueue(charge, { result: { chargeId: " c-1 " } });
    expect(await own.waitFor(good)).toMatchObject({ result: { chargeId: "c-1" } });
    await own.close();
    database.close();
  });
});
