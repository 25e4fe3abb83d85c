import Joi from "joi";
import Joi17 from "joi17";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { judgeRow, type RowSchema } from "./row-schema.ts";
import { fieldsOf } from "./schema-fields.ts";

const SCHEMAS: Readonly<Record<string, RowSchema>> = {
  zod: z.object({ email: z.email(), age: z.coerce.number().optional() }),
  "Joi 18": Joi.object({ email: Joi.string().email().required(), age: Joi.number() }),
  "Joi 17": Joi17.object({ email: Joi17.string().email().required(), age: Joi17.number() }),
};

describe.each(Object.entries(SCHEMAS))("a schema of %s", (_name, schema) => {
  it("tells its fields, and that it takes no others", () => {
    expect(fieldsOf(schema)).toEqual({ names: ["email", "age"], takesOthers: false });
  });

  it("makes of a row what it says", async () => {
    const row = { email: "ann@example.com", age: "40" };
    expect(await judgeRow(schema, row)).toEqual({ row: { email: "ann@example.com", age: 40 } });
  });

  it("refuses a row in one sentence that names the field", async () => {
    const { reason = "" } = await judgeRow(schema, { email: "no address", age: "4" });
    expect(reason).toMatch(/email/);
    expect(reason.match(/email/g)?.length).toBeLessThan(4);
  });
});

it("Joi 18 is asked as a Standard Schema, Joi 17 has only its validate", () => {
  expect("~standard" in (SCHEMAS["Joi 18"] as object)).toBe(true);
  expect("~standard" in (SCHEMAS["Joi 17"] as object)).toBe(false);
});

it("a schema that takes other fields, too, says so", () => {
  expect(fieldsOf(z.looseObject({ a: z.string() }))?.takesOthers).toBe(true);
  expect(fieldsOf(z.strictObject({ a: z.string() }))?.takesOthers).toBe(false);
  expect(fieldsOf(Joi.object({ a: Joi.string() }).unknown())?.takesOthers).toBe(true);
  expect(fieldsOf(z.object({ a: z.string() }).transform((one) => one))).toBe(null);
});

it("a long reason is cut, and has one line", async () => {
  const schema = z.object({ a: z.string().refine(() => false, `x\n${"y".repeat(900)}`) });
  const { reason = "" } = await judgeRow(schema, { a: "1" });
  expect(reason.length).toBe(300);
  expect(reason).not.toContain("\n");
});
