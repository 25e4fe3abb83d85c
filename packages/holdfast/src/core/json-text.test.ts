import vm from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvalidPayloadError, PayloadTooLargeError } from "./errors.ts";
import { byteLength, canonicalJson, decodeJson, encodeJson } from "./json-text.ts";

const MIB = 1024 * 1024;
const encode = (value: unknown, limits: { maxBytes?: number; maxDepth?: number } = {}) =>
  encodeJson(value, { what: "payload", maxBytes: MIB, ...limits });

/** What every store gives back unchanged: no -0 (JSON has none), no `__proto__`, no NUL, well formed. */
const json = () =>
  fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

describe("encodeJson", () => {
  it("gives back what went in", () => {
    fc.assert(
      fc.property(json(), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('"__proto__"') && !/\\u(?:0000|d)/.test(text));
        expect(decodeJson(encode(value))).toEqual(value);
        expect(encode(value)).toBe(text);
      }),
    );
  });

  it("refuses with a typed error or writes what JSON would, whatever it is given", () => {
    fc.assert(
      fc.property(
        fc.anything({
          withMap: true,
          withSet: true,
          withDate: true,
          withBigInt: true,
          withNullPrototype: true,
          withSparseArray: true,
          withTypedArray: true,
          withBoxedValues: true,
        }),
        (value) => {
          try {
            expect(encode(value)).toBe(JSON.stringify(value));
          } catch (error) {
            expect(error).toBeInstanceOf(InvalidPayloadError);
          }
        },
      ),
    );
  });

  it("drops undefined members and turns -0 into 0, as JSON does", () => {
    expect(encode({ a: undefined, b: 1, c: { d: undefined } })).toBe('{"b":1,"c":{}}');
    expect(encode([-0])).toBe("[0]");
  });

  it("takes any top-level value but undefined", () => {
    expect([null, 0, false, "", [], {}].map((value) => encode(value))).toEqual([
      "null",
      "0",
      "false",
      '""',
      "[]",
      "{}",
    ]);
  });

  it("takes objects without a prototype and from another realm", () => {
    expect(encode(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
    expect(encode(vm.runInNewContext("({ a: [1, { b: 2 }] })"))).toBe('{"a":[1,{"b":2}]}');
  });

  it("takes the same object twice: that is no cycle", () => {
    const shared = { at: new Date(0) };
    expect(encode({ a: shared, b: [shared] })).toBe(
      '{"a":{"at":"1970-01-01T00:00:00.000Z"},"b":[{"at":"1970-01-01T00:00:00.000Z"}]}',
    );
  });

  it("takes controls other than NUL, and text that only looks like an escape", () => {
    for (const text of ["\u0001\u001b", "\\u0000", "\\ud800", "C:\\users\\data", "😀", "\u2028"]) {
      expect(decodeJson(encode({ text, [text]: 1 }))).toEqual({ text, [text]: 1 });
    }
  });
});

describe("encodeJson nests at most 64 deep", () => {
  it("counts objects and arrays", () => {
    expect(decodeJson(encode(nested(63)))).toEqual(nested(63));
    expect(decodeJson(encode(nested(64)))).toEqual(nested(64));
    expect(() => encode(nested(65))).toThrow(/nested deeper than 64 levels: flatten it/);
    expect(() => encode(nested(100_000))).toThrow(InvalidPayloadError);
  });

  it("obeys another bound", () => {
    expect(encode([[1]], { maxDepth: 2 })).toBe("[[1]]");
    expect(() => encode([[1]], { maxDepth: 1 })).toThrow(
      "payload[0] is nested deeper than 1 level",
    );
    expect(encode("flat", { maxDepth: 0 })).toBe('"flat"');
  });
});

describe("encodeJson takes at most maxBytes of UTF-8", () => {
  it("counts bytes, not characters", () => {
    // Two quotes, then 1, 2, 3 and 4 bytes a character.
    for (const [char, bytes] of [
      ["a", 1],
      ["é", 2],
      ["€", 3],
      ["😀", 4],
    ] as const) {
      const text = char.repeat(100);
      const size = 100 * bytes + 2;
      expect(encode(text, { maxBytes: size + 1 })).toBe(`"${text}"`);
      expect(encode(text, { maxBytes: size })).toBe(`"${text}"`);
      expect(() => encode(text, { maxBytes: size - 1 })).toThrow(PayloadTooLargeError);
      expect(() => encode(text, { maxBytes: size - 1 })).toThrow(
        `payload takes ${size} bytes as JSON, ${size - 1} are allowed`,
      );
    }
  });

  it("stops early at values that are far too large, however small they look", () => {
    // Forty arrays in memory, a million million in JSON.
    let value: unknown = "x";
    for (let level = 0; level < 40; level++) value = [value, value];
    expect(() => encode(value)).toThrow(PayloadTooLargeError);
    expect(() => encode({ at: new Date(0), value })).toThrow(/takes more than \d+ bytes/);
    expect(() => encode(Array(1000).fill("y".repeat(MIB)))).toThrow(PayloadTooLargeError);
  });
});

describe("byteLength", () => {
  it("is the length of the UTF-8 form, also of broken text", () => {
    const units = fc.array(
      fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd700, max: 0xe000 })),
    );
    fc.assert(
      fc.property(units, (codes) => {
        const text = String.fromCharCode(...codes);
        expect(byteLength(text)).toBe(Buffer.byteLength(text));
      }),
    );
  });
});

describe("canonicalJson", () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, item]) => [key, shuffled(item)]),
    );
  };

  it("does not depend on the order of keys", () => {
    fc.assert(
      fc.property(json(), (value) => {
        const text = canonicalJson(JSON.stringify(value));
        expect(canonicalJson(JSON.stringify(shuffled(value)))).toBe(text);
        expect(JSON.parse(text)).toEqual(value);
        expect(canonicalJson(text)).toBe(text);
      }),
    );
  });

  it("sorts keys by code unit at every level, also keys that look like numbers", () => {
    expect(canonicalJson('{"b":1,"a":{"9":1,"10":2,"é":3,"Z":4}, "B" : 2 }')).toBe(
      '{"B":2,"a":{"10":2,"9":1,"Z":4,"é":3},"b":1}',
    );
  });

  it("writes equal numbers and texts alike", () => {
    expect(canonicalJson('[1.0, 1e2, -0, "\\u0061"]')).toBe('[1,100,0,"a"]');
  });

  it("keeps the order of arrays", () => {
    expect(canonicalJson("[3,1,2]")).toBe("[3,1,2]");
  });

  it("keeps a key that other parsers trip over", () => {
    expect(canonicalJson('{"b":1,"__proto__":{"x":1}}')).toBe('{"__proto__":{"x":1},"b":1}');
  });
});

it("decodeJson refuses what is not JSON without repeating it", () => {
  expect(() => decodeJson('{"secret": hunter2')).toThrow(InvalidPayloadError);
  expect(() => decodeJson('{"secret": hunter2')).not.toThrow(/hunter2/);
});
