import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeFailure } from "./failure.ts";

const describeIt = (error: unknown) =>
  describeFailure(error, { type: "email.send", category: "unknown" });
const messageOf = (error: unknown) => describeIt(error).message;
const printOf = (message: string) => describeIt(new Error(message)).fingerprint;

describe("the message", () => {
  it("is the error's own, followed by its causes", () => {
    expect(messageOf(new Error("boom"))).toBe("boom");
    const cause = new Error("connect ECONNREFUSED", { cause: "the cable" });
    expect(messageOf(new TypeError("fetch failed", { cause }))).toBe(
      "fetch failed: caused by connect ECONNREFUSED: caused by the cable",
    );
  });

  it("does not repeat a cause that it quotes already", () => {
    const cause = new Error("no such host");
    expect(messageOf(new Error("sync: no such host", { cause }))).toBe("sync: no such host");
  });

  it("describes what is thrown without being an error", () => {
    expect(messageOf("just text")).toBe("just text");
    expect(messageOf("")).toBe("threw an empty string");
    expect(messageOf(undefined)).toBe("threw undefined");
    expect(messageOf(null)).toBe("threw null");
    expect(messageOf(42)).toBe("threw 42");
    expect(messageOf(() => 1)).toBe("threw a function");
    expect(messageOf({ reason: "x" })).toBe('threw Object {"reason":"x"}');
    expect(messageOf({ message: "like an error" })).toBe("like an error");
    expect(messageOf(new RangeError())).toBe("RangeError");
    expect(messageOf(new Response())).toBe("threw Response {}");
  });

  it("has at most 2000 characters", () => {
    for (const [length, wanted] of [
      [1999, 1999],
      [2000, 2000],
      [2001, 2000],
      [1_000_000, 2000],
    ] as const) {
      expect(messageOf(new Error("x".repeat(length)))).toHaveLength(wanted);
    }
    const cause = new Error("y".repeat(5000));
    expect(messageOf(new Error("x".repeat(1900), { cause })).length).toBeLessThanOrEqual(2000);
  });

  it("is cleaned, never refused", () => {
    expect(messageOf(new Error("a\0b\ud800c\u001b"))).toBe("ab\ufffdc");
  });
});

describe("the stack", () => {
  it("is kept up to 4000 characters", () => {
    expect(describeIt(new Error("boom")).stack).toContain("failure.test.ts");
    const error = new Error("x");
    for (const [length, wanted] of [
      [3999, 3999],
      [4000, 4000],
      [4001, 4000],
    ] as const) {
      error.stack = "s".repeat(length);
      expect(describeIt(error).stack).toHaveLength(wanted);
    }
  });

  it("is null if there is none", () => {
    expect(describeIt("text").stack).toBe(null);
    expect(describeIt(Object.assign(new Error("x"), { stack: 5 })).stack).toBe(null);
  });
});

describe("the fingerprint", () => {
  it("is the same for failures that differ in numbers, ids and quoted names only", () => {
    const alike: [string, string][] = [
      ["order 17 not found", "order 4711 not found"],
      ['no user "ann"', 'no user "bob the builder"'],
      ["no user 'ann' here", "no user 'bob' here"],
      ["no table `a`", "no table `b`"],
      [
        "job 017f22e2-79b0-7cc3-98c4-dc0c0c07398f failed",
        "job 117F22E2-0000-7cc3-98c4-dc0c0c07398f failed",
      ],
      ["commit deadbeef01 is gone", "commit 0123456789abcdef is gone"],
      ["at 0xff", "at 0x1"],
      ["10.0.0.1:5432 refused", "192.168.1.77:80 refused"],
    ];
    for (const [a, b] of alike) expect(printOf(a), a).toBe(printOf(b));
  });

  it("tells apart what is different", () => {
    const different = [
      "not found",
      "not allowed",
      "can't read it's empty",
      "can't read it's full",
      "facade",
      "decade",
    ];
    expect(new Set(different.map(printOf)).size).toBe(different.length);
    const error = new Error("x");
    const prints = [
      describeFailure(error, { type: "a", category: "unknown" }),
      describeFailure(error, { type: "b", category: "unknown" }),
      describeFailure(error, { type: "a", category: "network" }),
    ].map((failure) => failure.fingerprint);
    expect(new Set(prints).size).toBe(3);
  });
});

describe("whatever is thrown", () => {
  it("can be described", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (thrown) => {
        const { message } = describeIt(thrown);
        expect(message.length).toBeGreaterThan(0);
        expect(message.length).toBeLessThanOrEqual(2000);
        expect(message.isWellFormed()).toBe(true);
      }),
    );
    expect(messageOf(new Error("\0"))).toBe("no message");
  });

  it("can be described even if it resists being looked at", () => {
    const trap = () => {
      throw new Error("no");
    };
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const traps = { get: trap, getPrototypeOf: trap, ownKeys: trap };
    for (const thrown of [proxy, new Proxy({}, traps), { toJSON: trap }]) {
      expect(messageOf(thrown)).toBe("threw Object");
    }
  });
});
