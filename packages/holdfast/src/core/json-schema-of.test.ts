import { describe, expect, it } from "vitest";
import { z } from "zod";
import { jsonSchemaOf } from "./json-schema-of.ts";

describe("a schema as JSON Schema", () => {
  it("is told where its library can", () => {
    expect(jsonSchemaOf(z.object({ to: z.string() }))).toMatchObject({
      type: "object",
      properties: { to: { type: "string" } },
      required: ["to"],
    });
  });

  it("is null where it cannot be said, or its library does not say it", () => {
    expect(jsonSchemaOf(z.object({ at: z.custom<symbol>(), big: z.bigint() }))).toBeNull();
    const plain = {
      "~standard": { version: 1, vendor: "own", validate: (value: unknown) => ({ value }) },
    };
    expect(jsonSchemaOf(plain as never)).toBeNull();
  });
});
