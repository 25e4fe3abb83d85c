import { describe, expect, it } from "vitest";
import { ClosedError, StoreFullError, StoreUnavailableError } from "../../core/errors.ts";
import { codeOf, storeError } from "./redis-error.ts";

function replied(message: string): Error {
  return Object.assign(new Error(message), { name: "ReplyError" });
}

describe("an error of Redis", () => {
  it("with which the server refuses a command means that nothing was done", () => {
    const words =
      "MISCONF READONLY LOADING MASTERDOWN CLUSTERDOWN TRYAGAIN ASK MOVED BUSY NOAUTH".split(" ");
    for (const word of words) {
      const error = storeError(replied(`${word} for a reason`));
      expect(error, word).toBeInstanceOf(StoreUnavailableError);
      expect(error, word).toMatchObject({ mayHaveHappened: false });
    }
  });

  it("that says memory is full is that", () => {
    const message = "OOM allow-oom flag is not set on the script, can not run it";
    expect(storeError(replied(message))).toBeInstanceOf(StoreFullError);
  });

  it("of a broken connection leaves open what happened, unless nothing was sent", () => {
    const broken = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    const redirected = "Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN";
    for (const error of [broken, new Error("Connection is closed."), new Error(redirected)]) {
      expect(storeError(error)).toMatchObject({ mayHaveHappened: true });
    }
    const unsent = "Stream isn't writeable and enableOfflineQueue options is false";
    expect(storeError(new Error(unsent))).toMatchObject({ mayHaveHappened: false });
  });

  it("of a script that came to a key on another node leaves open what happened", () => {
    const message = "ERR Script attempted to access a non local key in a cluster node script: f00";
    expect(storeError(replied(message))).toMatchObject({ mayHaveHappened: true });
  });

  it("that is a bug, or our own, passes as it is", () => {
    const bug = replied("ERR user_script:7: attempt to index a nil value");
    const closed = new ClosedError("closed");
    expect(storeError(bug)).toBe(bug);
    expect(storeError(closed)).toBe(closed);
  });

  it("has the server's own word in front", () => {
    expect(codeOf(replied("NOSCRIPT No matching script"))).toBe("NOSCRIPT");
    expect(codeOf(new Error("NOSCRIPT said somebody else"))).toBeNull();
  });
});
