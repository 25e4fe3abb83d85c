import { describe, expect, it } from "vitest";
import { errorChain, read, readText } from "./error-chain.ts";

describe("errorChain", () => {
  it("is the error, then its causes", () => {
    const root = new Error("root");
    const middle = new Error("middle", { cause: root });
    const top = new Error("top", { cause: middle });
    expect(errorChain(top)).toEqual([top, middle, root]);
    expect(errorChain("text")).toEqual(["text"]);
    expect(errorChain(undefined)).toEqual([undefined]);
  });

  it("holds the first two errors of an AggregateError", () => {
    const [a, b, c] = [new Error("a"), new Error("b"), new Error("c")];
    const all = new AggregateError([a, b, c]);
    expect(errorChain(all)).toEqual([all, a, b]);
  });

  it("holds each link once and eight at most", () => {
    const circle = new Error("x");
    circle.cause = circle;
    expect(errorChain(circle)).toEqual([circle]);
    let long = new Error("0");
    for (let depth = 1; depth < 20; depth++) long = new Error(String(depth), { cause: long });
    expect(errorChain(long)).toHaveLength(8);
  });
});

describe("read", () => {
  it("answers undefined where there is nothing, or nothing to be had", () => {
    const hostile = {
      get code(): string {
        throw new Error("no");
      },
    };
    for (const from of [null, undefined, 5, "text", hostile])
      expect(read(from, "code")).toBe(undefined);
    expect(read({ code: 7 }, "code")).toBe(7);
    expect(readText({ code: 7 }, "code")).toBe("");
    expect(readText({ code: "E" }, "code")).toBe("E");
  });
});
