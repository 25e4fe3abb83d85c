import { describe, expect, it } from "vitest";
import { findText, formatPath } from "./value-path.ts";

describe("formatPath", () => {
  it("is written as a person would write it", () => {
    expect(formatPath("payload", [])).toBe("payload");
    expect(formatPath("payload", ["user", "tags", 3])).toBe("payload.user.tags[3]");
    expect(formatPath("", ["to"])).toBe("to");
    expect(formatPath("", [0, "to"])).toBe("[0].to");
    expect(formatPath("payload", ["a-b", "$c", "1d", ""])).toBe('payload["a-b"].$c["1d"][""]');
  });

  it("stays short", () => {
    const path = formatPath("payload", Array(64).fill("level"));
    expect(path.length).toBeLessThanOrEqual(200);
    expect(path.endsWith("…")).toBe(true);
  });
});

describe("findText", () => {
  const isBad = (text: string) => text === "bad";

  it("finds texts and keys, the first in order", () => {
    expect(findText("bad", "it", isBad)).toBe("it");
    expect(findText({ a: ["ok", { b: "bad" }], c: "bad" }, "it", isBad)).toBe("it.a[1].b");
    expect(findText({ a: 1, bad: 2 }, "it", isBad)).toBe("it.bad");
  });

  it("says null when there is none", () => {
    expect(findText({ a: ["ok", 1, null, true], b: {} }, "it", isBad)).toBe(null);
  });
});
