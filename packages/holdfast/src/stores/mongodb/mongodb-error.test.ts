import { describe, expect, it } from "vitest";
import { StoreFullError, StoreUnavailableError } from "../../core/errors.ts";
import { duplicatesIn, duplicatesOf, isTooLate, storeError, takenOf } from "./mongodb-error.ts";

function mongoError(name: string, fields: object = {}): Error {
  return Object.assign(new Error("it failed"), { name, ...fields });
}

describe("an error of MongoDB", () => {
  it("of the network leaves open whether it was done", () => {
    for (const name of [
      "MongoNetworkError",
      "MongoServerSelectionError",
      "MongoPoolClearedError",
      "PoolClearedOnNetworkError",
    ]) {
      const error = storeError(mongoError(name));
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect(error).toMatchObject({ mayHaveHappened: true, isRetryable: true });
    }
  });

  it("of a bulk that failed as a whole leaves it open, too", () => {
    const error = storeError(mongoError("MongoBulkWriteError", { writeErrors: [] }));
    expect(error).toBeInstanceOf(StoreUnavailableError);
  });

  it("of a primary that has stepped down passes", () => {
    const error = storeError(mongoError("MongoServerError", { code: 10107 }));
    expect(error).toBeInstanceOf(StoreUnavailableError);
  });

  it("of a call that took too long says so, and leaves it open", () => {
    for (const code of [50, 262]) {
      const error = storeError(mongoError("MongoServerError", { code }));
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect(error).toMatchObject({ mayHaveHappened: true });
      expect((error as Error).message).toContain("too slow");
    }
  });

  it("of a full disk says what to do", () => {
    const error = storeError(mongoError("MongoServerError", { code: 14031 }));
    expect(error).toBeInstanceOf(StoreFullError);
  });

  it("that is a bug passes as it is", () => {
    const bug = mongoError("MongoServerError", { code: 9 });
    expect(storeError(bug)).toBe(bug);
  });
});

describe("the failed items of a bulk", () => {
  it("are told if all of them failed for a taken key", () => {
    const writeErrors = [{ index: 3, code: 11000 }];
    expect(duplicatesIn(mongoError("MongoBulkWriteError", { writeErrors }))).toEqual(writeErrors);
  });

  it("are not told if one failed for something else", () => {
    const writeErrors = [
      { index: 1, code: 11000 },
      { index: 3, code: 50 },
    ];
    const error = mongoError("MongoBulkWriteError", { code: 11000, writeErrors });
    expect(duplicatesIn(error)).toBeNull();
    expect(isTooLate(error)).toBe(true);
  });
});

describe("a write that was too late", () => {
  it("is not one that was done, and that a majority has only not confirmed in time", () => {
    expect(isTooLate(mongoError("MongoServerError", { code: 50 }))).toBe(true);
    expect(isTooLate(mongoError("MongoWriteConcernError", { code: 50 }))).toBe(false);
    const result = { getWriteConcernError: () => ({ code: 50 }) };
    expect(isTooLate(mongoError("MongoBulkWriteError", { code: 50, result }))).toBe(false);
  });
});

describe("the reply of a write command", () => {
  const taken = { index: 3, code: 11000 };

  it("tells which items failed for a taken key", () => {
    expect(duplicatesOf({ ok: 1, n: 5 })).toEqual(new Set());
    expect(duplicatesOf({ ok: 1, n: 4, writeErrors: [taken] })).toEqual(new Set([3]));
  });

  it("tells which of its ids is taken, where the server says so", () => {
    const named = { ...taken, keyPattern: { ids: 1 }, keyValue: { ids: "b" } };
    const reply = { ok: 1, n: 3, writeErrors: [named, { ...taken, index: 4 }] };
    expect(takenOf(reply)).toEqual(
      new Map([
        [3, "b"],
        [4, null],
      ]),
    );
  });

  it("is an error if one failed for something else", () => {
    const reply = { ok: 1, n: 0, writeErrors: [taken, { index: 4, code: 50 }] };
    const error = thrownBy(() => duplicatesOf(reply));
    expect(isTooLate(error)).toBe(true);
    expect(storeError(error)).toBeInstanceOf(StoreUnavailableError);
  });

  it("leaves open whether it was done if no majority has confirmed it", () => {
    const reply = { ok: 1, n: 5, writeErrors: [taken], writeConcernError: { code: 64 } };
    expect(thrownBy(() => duplicatesOf(reply))).toMatchObject({ mayHaveHappened: true });
  });
});

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("it did not throw");
}

it("an error of the socket, which the driver hands on as it is, may do at another try", () => {
  for (const code of ["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED"]) {
    const error = Object.assign(new Error("This socket has been ended by the other party"), {
      code,
    });
    expect(storeError(error)).toMatchObject({ isRetryable: true, mayHaveHappened: true });
  }
  const bug = Object.assign(new TypeError("no number"), { code: "ERR_INVALID_ARG_TYPE" });
  expect(storeError(bug)).toBe(bug);
});
