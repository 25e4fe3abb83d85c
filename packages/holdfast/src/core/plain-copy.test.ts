/** The careful way to JSON, seen through encodeJson: what is refused, where, and what to do. */
import { describe, expect, it } from "vitest";
import { InvalidPayloadError } from "./errors.ts";
import { encodeJson } from "./json-text.ts";

const encode = (value: unknown) => encodeJson(value, { what: "payload", maxBytes: 1024 * 1024 });

function refusal(value: unknown): string {
  try {
    encode(value);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidPayloadError);
    return (error as Error).message;
  }
  throw new Error("was not refused");
}

class Point {
  readonly x = 1;
}

describe("what JSON would change or drop in silence is refused", () => {
  const refused: [string, unknown, string][] = [
    ["undefined", undefined, "payload is undefined"],
    ["an undefined item", { a: [1, undefined] }, "payload.a[1] is undefined"],
    ["a hole", { a: [1, , 3] }, "payload.a[1] is undefined"], // oxlint-disable-line no-sparse-arrays
    ["a function", { run: () => 1 }, "payload.run is a function"],
    ["a symbol", [Symbol("s")], "payload[0] is a symbol"],
    ["a bigint", { n: 1n }, "payload.n is a bigint, which JSON cannot write: use a string"],
    ["NaN", { n: NaN }, "payload.n is NaN"],
    ["Infinity", [[-Infinity]], "payload[0][0] is -Infinity"],
    [
      "a Map",
      { m: new Map() },
      "payload.m is an instance of Map, which JSON would not give back: use Object.fromEntries(map)",
    ],
    ["a Set", { s: new Set() }, "use [...set]"],
    [
      "a class instance",
      new Point(),
      "payload is an instance of Point, which JSON would not give back: give a plain object, or add a toJSON method",
    ],
    ["an Error", { e: new Error("x") }, "payload.e is an instance of Error"],
    ["a RegExp", [/x/], "payload[0] is an instance of RegExp"],
    ["a Promise", { p: Promise.resolve(1) }, "payload.p is an instance of Promise"],
    ["a boxed number", [Object(5)], "payload[0] is an instance of Number"],
    [
      "a typed array",
      { bytes: new Uint8Array(2) },
      "payload.bytes is binary data: encode it as base64 text",
    ],
    ["a Buffer", { bytes: Buffer.from("x") }, "payload.bytes is binary data"],
    ["an ArrayBuffer", new ArrayBuffer(2), "payload is an instance of ArrayBuffer"],
    ["an invalid Date", { at: new Date(NaN) }, "payload.at is an invalid Date"],
    [
      "NUL in a text",
      { user: { tags: ["a", "b", "c", "x\0"] } },
      "payload.user.tags[3] contains a NUL",
    ],
    ["NUL in a key", { "a\0b": 1 }, 'payload["ab"] contains a NUL'],
    [
      "half a surrogate pair",
      ["\ud800"],
      "payload[0] contains a NUL character or half of a surrogate pair",
    ],
    ["the other half in a key", { x: { "\udc00": 1 } }, "half of a surrogate pair"],
    [
      "an own __proto__ key",
      JSON.parse('{"a":{"__proto__":{"x":1}}}'),
      "payload.a.__proto__ is a key that can poison",
    ],
  ];

  it.each(refused)("%s", (_what, value, words) => {
    expect(refusal(value)).toContain(words);
  });

  it("a cycle, direct and far", () => {
    const self: Record<string, unknown> = {};
    self["me"] = self;
    expect(refusal(self)).toContain("payload.me contains itself");
    const far = { list: [{ back: null as unknown }] };
    far.list[0]!.back = far;
    expect(refusal(far)).toContain("payload.list[0].back contains itself");
    const array: unknown[] = [];
    array.push([array]);
    expect(refusal(array)).toContain("payload[0][0] contains itself");
  });

  it("a key of another kind than a name is quoted, cleaned and cut", () => {
    expect(refusal({ "a b": NaN })).toContain('payload["a b"] is NaN');
    expect(refusal({ ["k".repeat(500)]: NaN })).toContain(`payload["${"k".repeat(39)}…"] is NaN`);
  });

  it("the message never holds the value", () => {
    expect(refusal({ password: "hunter2\0" })).not.toContain("hunter2");
  });
});

describe("toJSON", () => {
  it("speaks for its object, and is called once", () => {
    let calls = 0;
    const money = { toJSON: () => ({ cents: ++calls }) };
    expect(encode({ money, at: new Date(0), url: new URL("https://example.com/") })).toBe(
      '{"money":{"cents":1},"at":"1970-01-01T00:00:00.000Z","url":"https://example.com/"}',
    );
  });

  it("hears its key, as JSON.stringify would tell it", () => {
    const echo = { toJSON: (key: string) => `key ${key}` };
    const value = { a: echo, b: [echo] };
    expect(encode(value)).toBe(JSON.stringify(value));
    expect(encode(echo)).toBe(JSON.stringify(echo));
  });

  it("may return its own instance: then the members are meant", () => {
    class Account extends Point {
      toJSON() {
        return this;
      }
    }
    expect(encode([new Account()])).toBe('[{"x":1}]');
  });

  it("that returns undefined drops the member, but not an item", () => {
    const nothing = { toJSON: () => undefined };
    expect(encode({ a: nothing, b: 1 })).toBe('{"b":1}');
    expect(refusal([nothing])).toContain("payload[0] is undefined");
    expect(refusal(nothing)).toContain("payload is undefined");
  });

  it("is not trusted: what it returns is looked at", () => {
    expect(refusal({ a: { toJSON: () => ({ n: NaN }) } })).toContain("payload.a.n is NaN");
    expect(refusal({ a: { toJSON: () => new Map() } })).toContain(
      "payload.a is an instance of Map",
    );
    expect(refusal({ a: { toJSON: () => "x\0" } })).toContain("payload.a contains a NUL");
  });

  it("that is no function is a member like any other", () => {
    expect(encode({ toJSON: 5 })).toBe('{"toJSON":5}');
  });

  it("that throws is a refusal with its cause", () => {
    const cause = new Error("broken");
    const bad = {
      toJSON() {
        throw cause;
      },
    };
    expect(refusal({ a: bad })).toContain("payload.a cannot be read");
    expect(() => encode({ a: bad })).toThrow(expect.objectContaining({ cause }));
  });
});

describe("hostile values end in a typed error too", () => {
  it("a getter that throws", () => {
    const value = {
      ok: 1,
      get bad(): number {
        throw new Error("no");
      },
    };
    expect(refusal({ a: value })).toContain("payload.a.bad cannot be read");
  });

  it("a revoked proxy, and proxies whose traps throw", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(refusal({ proxy })).toContain("payload.proxy cannot be read");
    const trap = () => {
      throw new Error("no");
    };
    for (const name of ["get", "ownKeys", "getPrototypeOf", "getOwnPropertyDescriptor"]) {
      expect(refusal([new Proxy({ a: 1 }, { [name]: trap })])).toContain(
        "payload[0] cannot be read",
      );
    }
    expect(refusal([new Proxy([1], { get: trap })])).toContain("cannot be read");
  });
});
