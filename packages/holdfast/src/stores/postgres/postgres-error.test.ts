import { describe, expect, it } from "vitest";
import { ClosedError, StoreFullError, StoreUnavailableError } from "../../core/errors.ts";
import { breaksConnection, isTransient, storeError } from "./postgres-error.ts";

function failed(code: string, message = "it failed"): Error {
  return Object.assign(new Error(message), { code });
}

const SENT = { mayHaveHappened: true };

describe("an error of PostgreSQL", () => {
  it("that the server reports for a statement means that it was rolled back", () => {
    for (const code of ["40P01", "40001", "55P03", "25006", "57014", "53300", "28P01"]) {
      const error = storeError(failed(code), SENT);
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect((error as StoreUnavailableError).mayHaveHappened, code).toBe(false);
    }
  });

  it("that ends the connection leaves open what happened, unless nothing was sent", () => {
    for (const code of ["57P01", "57P02", "08006", "ECONNRESET", "EPIPE"]) {
      expect(breaksConnection(failed(code)), code).toBe(true);
      expect(storeError(failed(code), SENT)).toMatchObject({ mayHaveHappened: true });
      expect(storeError(failed(code), { mayHaveHappened: false })).toMatchObject({
        mayHaveHappened: false,
      });
    }
    expect(storeError(new Error("Connection terminated unexpectedly"), SENT)).toBeInstanceOf(
      StoreUnavailableError,
    );
  });

  it("of a replica, in any language, says to go to the primary", () => {
    const refused = failed("0A000", "während der Wiederherstellung nicht möglich");
    const error = storeError(Object.assign(refused, { routine: "call_bool_check_hook" }), SENT);
    expect(error).toMatchObject({ message: expect.stringContaining("primary") });
    expect(error).toBeInstanceOf(StoreUnavailableError);
  });

  it("that says the disk is full is that", () => {
    expect(storeError(failed("53100"), SENT)).toBeInstanceOf(StoreFullError);
  });

  it("that another try may mend is known", () => {
    expect(["40P01", "40001", "23505", "57P01"].map((code) => isTransient(failed(code)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it("that is a bug passes as it is, and so do errors of our own", () => {
    for (const error of [failed("42601"), new TypeError("x is not a function"), null, "text"]) {
      expect(storeError(error, SENT)).toBe(error);
    }
    const own = new ClosedError("the connection of the store is closed");
    expect(storeError(own, SENT)).toBe(own);
    expect(breaksConnection(own)).toBe(false);
  });
});
