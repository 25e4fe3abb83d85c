import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { REDACTED, Redactor, SENSITIVE_KEYS } from "./redact.ts";

const redactor = new Redactor();

describe("values", () => {
  it("hide what is under a key with one of the words, in any case and at any depth", () => {
    const payload = {
      user: "ann",
      apiKey: "k",
      nested: [{ accessTOKEN: { deep: 1 }, ok: true }, { "X-Authorization": ["a"] }],
      Secret_Sauce: null,
      userPassword: 5,
    };
    expect(redactor.value(payload)).toEqual({
      user: "ann",
      apiKey: REDACTED,
      nested: [{ accessTOKEN: REDACTED, ok: true }, { "X-Authorization": REDACTED }],
      Secret_Sauce: REDACTED,
      userPassword: REDACTED,
    });
  });

  it("stay as they were given", () => {
    const payload = { token: "t", list: [{ key: 1 }] };
    const before = structuredClone(payload);
    redactor.value(payload);
    expect(payload).toEqual(before);
  });

  it("that are no objects are shown as they are", () => {
    for (const plain of ["password", 5, null, true]) expect(redactor.value(plain)).toBe(plain);
  });

  it("hide further words, and what a function of the user's hides", () => {
    const own = new Redactor({
      keys: ["IBAN"],
      value: (value) => ({ ...(value as object), note: "hidden" }),
    });
    expect(own.value({ iban: 1, note: "n", token: 2 })).toEqual({
      iban: REDACTED,
      note: "hidden",
      token: REDACTED,
    });
  });

  it("are hidden whole if the user's function throws", () => {
    const troubles: unknown[] = [];
    const value = () => {
      throw new Error("bug");
    };
    const broken = new Redactor({ value }, (error) => troubles.push(error));
    expect(broken.value({ a: 1 })).toBe(REDACTED);
    expect(broken.json('{"a":1}', 1_000)).toBe(JSON.stringify(REDACTED));
    expect(troubles).toHaveLength(2);
  });

  it("never show what is under a sensitive key, whatever is around it", () => {
    const word = fc.constantFrom(...SENSITIVE_KEYS);
    const key = fc.tuple(fc.string(), word, fc.string()).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.jsonValue(), key, (value, name) => {
        const shown = JSON.stringify(redactor.value([{ around: value, [name]: "HIDE-ME" }]));
        expect(shown).not.toContain("HIDE-ME");
      }),
    );
  });
});

describe("text", () => {
  it("hides credentials of headers, web tokens and passwords of URLs", () => {
    const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
    expect(redactor.text(`401 for Authorization: Bearer abc.def-1`)).toBe(
      `401 for Authorization: Bearer ${REDACTED}`,
    );
    expect(redactor.text(`bad token ${jwt} given`)).toBe(`bad token ${REDACTED} given`);
    expect(redactor.text("connect postgres://app:s3cr:et@db:5432/x failed")).toBe(
      `connect postgres://app:${REDACTED}@db:5432/x failed`,
    );
    expect(redactor.text("redis://:hunter2@cache/0")).toBe(`redis://:${REDACTED}@cache/0`);
  });

  it("without any of it stays as it is", () => {
    const plain = "connect ECONNREFUSED 10.0.0.1:5432 at http://db:5432/path?q=a:b";
    expect(redactor.text(plain)).toBe(plain);
  });
});

describe("JSON text", () => {
  it("is cut to its head if it is too long", () => {
    const long = JSON.stringify({ token: "t", text: "ü".repeat(5_000) });
    const cut = redactor.json(long, 1_000);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1_000);
    expect(JSON.parse(cut)).toEqual({ truncated: expect.stringContaining(REDACTED) });
  });

  it("that is none is hidden", () => {
    expect(redactor.json("{token: abc", 1_000)).toBe(JSON.stringify(REDACTED));
  });
});
