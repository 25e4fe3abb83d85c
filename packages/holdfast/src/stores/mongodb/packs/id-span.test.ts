import { describe, expect, it } from "vitest";
import { uuidV7 } from "../../../core/uuid.ts";
import { areBeside, having, spanOf } from "./id-span.ts";

const AT = 0x0123_4567_89a0;

function idAt(ms: number, byte = 0): string {
  return uuidV7(ms, new Uint8Array(10).fill(byte));
}

describe("ids of one document", () => {
  it("were made within the same sixteen milliseconds", () => {
    expect(areBeside(idAt(AT), idAt(AT + 15))).toBe(true);
    expect(areBeside(idAt(AT + 15), idAt(AT + 16))).toBe(false);
    expect(areBeside(idAt(AT), idAt(AT + 0x1_0000_0000))).toBe(false);
  });

  it("span from the least to the greatest, in whatever order they come", () => {
    const ids = [idAt(AT + 1, 9), idAt(AT, 3), idAt(AT + 1, 1)];
    expect(spanOf(ids)).toEqual({ idFrom: ids[1], idTo: ids[0] });
  });

  it("are looked for among those that were made at their time", () => {
    const [early, late, other] = [idAt(AT, 1), idAt(AT + 9, 2), idAt(AT + 16, 3)];
    const time = early.slice(0, 12);
    const both = {
      idFrom: { $gte: time, $lte: late },
      idTo: { $gte: early },
      ids: { $in: [late, early] },
    };
    expect(having([late, early])).toEqual(both);
    const alone = {
      idFrom: { $gte: other.slice(0, 12), $lte: other },
      idTo: { $gte: other },
      ids: { $in: [other] },
    };
    expect(having([late, other, early])).toEqual({ $or: [both, alone] });
  });
});
