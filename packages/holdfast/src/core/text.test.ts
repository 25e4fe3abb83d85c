import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteLength } from "./json-text.ts";
import { cleanText, cutToBytes, hasControl, show } from "./text.ts";

/** Also halves of surrogate pairs. */
const brokenText = () =>
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 100 })
    .map((units) => String.fromCharCode(...units));

/** Characters of one to four bytes. */
const anyText = () =>
  fc
    .array(fc.constantFrom("a", "\0", "é", "€", "\ufffd", "😀", "𝒳"), { maxLength: 30 })
    .map((chars) => chars.join(""));

describe("cleanText", () => {
  it("never throws, is always well formed and never longer than asked", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything({ withNullPrototype: true }), brokenText()),
        fc.integer({ min: 0, max: 50 }),
        (value, max) => {
          const text = cleanText(value, max);
          expect(text.isWellFormed()).toBe(true);
          expect(text.length).toBeLessThanOrEqual(max);
        },
      ),
    );
  });

  it("removes control characters but keeps tabs and line feeds", () => {
    expect(cleanText("a\0b\u001b[31mc\td\r\ne\u007f\u009b", 100)).toBe("ab[31mc\td\ne");
  });

  it("leaves text of exactly the length alone and marks where longer text was cut", () => {
    expect(cleanText("abcd", 5)).toBe("abcd");
    expect(cleanText("abcde", 5)).toBe("abcde");
    expect(cleanText("abcdef", 5)).toBe("abcd…");
  });

  it("does not cut a surrogate pair in two", () => {
    expect(cleanText("abc😀def", 5)).toBe("abc…");
    expect(cleanText("abc😀def", 6)).toBe("abc😀…");
  });

  it("replaces half a surrogate pair", () => {
    expect(cleanText("a\ud800b", 10)).toBe("a\ufffdb");
  });

  it("says that text was cut even if what is left is short", () => {
    expect(cleanText("\0".repeat(10_000) + "end", 10)).toBe("…");
  });

  it("describes what cannot be written as text", () => {
    expect(cleanText(Object.create(null), 50)).toBe("[unprintable]");
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(cleanText(proxy, 50)).toBe("[unprintable]");
    expect(cleanText(Symbol("s"), 50)).toBe("Symbol(s)");
    expect(cleanText(null, 50)).toBe("null");
  });

  it("answers with nothing if there is no room at all", () => {
    for (const max of [0, -1, NaN]) expect(cleanText("abc", max)).toBe("");
    expect(cleanText("abc", 1)).toBe("…");
  });
});

describe("cutToBytes", () => {
  it("fits, is a whole prefix, and leaves text that fits alone", () => {
    fc.assert(
      fc.property(anyText(), fc.integer({ min: 0, max: 60 }), (text, max) => {
        const cut = cutToBytes(text, max);
        expect(byteLength(cut)).toBeLessThanOrEqual(max);
        if (byteLength(text) <= max) expect(cut).toBe(text);
        else expect(text.startsWith(cut.replace(/…$/, ""))).toBe(true);
        expect(cut.isWellFormed()).toBe(true);
      }),
    );
  });

  it("keeps as much as there is room for", () => {
    expect(cutToBytes("abcdefgh", 8)).toBe("abcdefgh");
    expect(cutToBytes("abcdefgh", 7)).toBe("abcd…");
    expect(cutToBytes("€€€", 9)).toBe("€€€");
    expect(cutToBytes("€€€", 8)).toBe("€…");
    expect(cutToBytes("😀😀", 7)).toBe("😀…");
    expect(cutToBytes("😀😀", 6)).toBe("…");
    expect(cutToBytes("abc", 2)).toBe("");
  });
});

describe("show", () => {
  it("names a value without repeating what may be long or secret", () => {
    expect(show("a\0b")).toBe('"ab"');
    expect(show("x".repeat(50))).toBe(`"${"x".repeat(39)}…"`);
    expect(show({ secret: 1 })).toBe("an object");
    expect(show([1])).toBe("an array");
    expect(show(() => 1)).toBe("a function");
    expect(show(undefined)).toBe("undefined");
    expect(show(null)).toBe("null");
    expect(show(NaN)).toBe("NaN");
  });
});

describe("hasControl", () => {
  it("finds every control character", () => {
    for (const control of ["\0", "\t", "\n", "\u001f", "\u007f", "\u0085"]) {
      expect(hasControl(`a${control}b`)).toBe(true);
    }
    expect(hasControl("plain ünïcode 😀")).toBe(false);
  });
});
