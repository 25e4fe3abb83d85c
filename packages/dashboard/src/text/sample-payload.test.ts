import { describe, expect, it } from "vitest";
import { z } from "zod";
import { samplePayload } from "./sample-payload.ts";

describe("a payload to begin with", () => {
  it("has every field that is needed, and nothing else", () => {
    const schema = z.object({
      ...{
        to: z.string(),
        tries: z.int(),
        isHtml: z.boolean().optional(),
        kind: z.enum(["a", "b"]),
      },
      ...{ parts: z.array(z.string()), from: z.object({ name: z.string() }), at: z.null() },
      plan: z.literal("plus"),
    });
    expect(samplePayload(z.toJSONSchema(schema) as never)).toEqual({
      ...{ to: "", tries: 0, kind: "a", parts: [], from: { name: "" }, at: null, plan: "plus" },
    });
  });

  it("is an empty object where nothing is known", () => {
    expect(samplePayload({})).toEqual({});
  });
});
