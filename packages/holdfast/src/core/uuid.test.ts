import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isUuid, uuidV7 } from "./uuid.ts";

const ms = () => fc.integer({ min: 0, max: 2 ** 48 - 1 });
const bytes = () => fc.uint8Array({ minLength: 10, maxLength: 16 });

describe("uuidV7", () => {
  it("writes time, version, variant and random bits where RFC 9562 wants them", () => {
    // The example of RFC 9562, appendix A.6.
    const random = Uint8Array.from([0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f]);
    expect(uuidV7(0x017f22e279b0, random)).toBe("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
  });

  it("is a lower case version 7 UUID for every time and chance", () => {
    fc.assert(
      fc.property(ms(), bytes(), (at, random) => {
        const id = uuidV7(at, random);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(isUuid(id)).toBe(true);
      }),
    );
  });

  it("gives its time back from the first 48 bits", () => {
    fc.assert(
      fc.property(ms(), bytes(), (at, random) => {
        const id = uuidV7(at, random);
        expect(parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(at);
      }),
    );
  });

  it("sorts as text in the order of time", () => {
    fc.assert(
      fc.property(ms(), ms(), bytes(), bytes(), (a, b, x, y) => {
        fc.pre(a < b);
        expect(uuidV7(a, x) < uuidV7(b, y)).toBe(true);
      }),
    );
  });

  it("uses whole milliseconds of a clock that has fractions", () => {
    const random = new Uint8Array(10);
    expect(uuidV7(1_700_000_000_000.75, random)).toBe(uuidV7(1_700_000_000_000, random));
  });

  it("refuses to make an id from too little chance", () => {
    expect(() => uuidV7(0, new Uint8Array(9))).toThrow(RangeError);
    expect(() => uuidV7(0, new Uint8Array(19), 10)).toThrow(RangeError);
  });

  it("takes its chance from where it is told to", () => {
    fc.assert(
      fc.property(ms(), bytes(), fc.nat(5), (at, random, start) => {
        const shifted = Uint8Array.from([...new Uint8Array(start).fill(0xff), ...random]);
        expect(uuidV7(at, shifted, start)).toBe(uuidV7(at, random));
      }),
    );
  });
});

describe("isUuid", () => {
  it("knows one spelling only", () => {
    const id = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
    expect(isUuid(id)).toBe(true);
    for (const other of [id.toUpperCase(), `{${id}}`, `${id}\n`, id.replaceAll("-", ""), "", "x"]) {
      expect(isUuid(other)).toBe(false);
    }
  });
});
