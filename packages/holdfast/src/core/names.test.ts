import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvalidNameError } from "./errors.ts";
import { checkKey, checkName, checkTags, type NameKind } from "./names.ts";

describe("checkName", () => {
  it("gives a good name back", () => {
    for (const name of [
      "a",
      "0",
      "email.send",
      "tenant:7",
      "A_b-c.d",
      "x".repeat(127),
      "x".repeat(128),
    ]) {
      expect(checkName("queue", name)).toBe(name);
    }
  });

  it("refuses everything else", () => {
    const bad = [
      "",
      "x".repeat(129),
      ".a",
      "-a",
      "_a",
      ":a",
      "a b",
      "a/b",
      "a\n",
      "é",
      "a\0",
      "a{b}",
      "a😀",
    ];
    for (const name of [...bad, undefined, null, 7, {}, ["a"], Symbol("a")]) {
      expect(() => checkName("type", name)).toThrow(InvalidNameError);
    }
  });

  it("says which name, what is allowed, and shows the value cut and cleaned", () => {
    const say = (kind: NameKind, value: unknown) => {
      try {
        return checkName(kind, value);
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(say("queue", "my\0 queue")).toBe(
      '"my queue" cannot be the name of a queue: use 1 to 128 letters, digits and _ . : - and begin with a letter or a digit',
    );
    expect(say("group", "y".repeat(1000))).toContain(
      `"${"y".repeat(39)}…" cannot be the name of a group`,
    );
    expect(say("type", undefined)).toContain("undefined cannot be the name of a job type");
    expect(say("owner", " ")).toContain("the owner of a hold");
  });

  it("accepts exactly what the pattern says", () => {
    const pattern = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;
    fc.assert(
      fc.property(fc.string({ maxLength: 6 }), (name) => {
        if (pattern.test(name)) expect(checkName("queue", name)).toBe(name);
        else expect(() => checkName("queue", name)).toThrow(InvalidNameError);
      }),
    );
  });
});

describe("checkKey", () => {
  it("takes 1 to 512 characters of almost anything", () => {
    for (const key of [
      "k",
      "welcome:b@example.com",
      "order / 7 ü 😀",
      "x".repeat(511),
      "x".repeat(512),
    ]) {
      expect(checkKey(key)).toBe(key);
    }
  });

  it("refuses an empty, a long, a broken and a non-text key", () => {
    for (const key of [
      "",
      "x".repeat(513),
      "a\0",
      "a\nb",
      "a\u0085",
      "a\ud800",
      7,
      null,
      undefined,
      {},
    ]) {
      expect(() => checkKey(key)).toThrow(InvalidNameError);
    }
    expect(() => checkKey("x".repeat(513))).toThrow(/1 to 512 characters, not 513/);
  });
});

describe("checkTags", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `tag-${index}`);

  it("takes up to 20 different tags", () => {
    expect(checkTags([])).toEqual([]);
    expect(checkTags(many(19))).toHaveLength(19);
    expect(checkTags(many(20))).toHaveLength(20);
    expect(() => checkTags(many(21))).toThrow(/at most 20 tags/);
  });

  it("keeps each tag once, in the order given", () => {
    expect(checkTags(["b", "a", "b", ...many(18), "a"])).toEqual(["b", "a", ...many(18)]);
  });

  it("takes tags of 1 to 128 characters", () => {
    expect(checkTags(["x".repeat(128), "x"])).toHaveLength(2);
    expect(() => checkTags(["x".repeat(129)])).toThrow(/1 to 128 characters, not 129/);
    expect(() => checkTags([""])).toThrow(InvalidNameError);
  });

  it("refuses what is no list of texts", () => {
    for (const tags of ["a", null, 7, {}, [7], [null], ["a\n"], ["\udc00"], Array(2)]) {
      expect(() => checkTags(tags)).toThrow(InvalidNameError);
    }
  });

  it("does not hand back the caller's own array", () => {
    const tags = ["a"];
    expect(checkTags(tags)).not.toBe(tags);
  });
});
