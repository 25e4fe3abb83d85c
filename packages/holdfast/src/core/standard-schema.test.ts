import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { PayloadValidationError } from "./errors.ts";
import {
  isStandardSchema,
  validateWith,
  type InferInput,
  type InferOutput,
  type StandardSchema,
} from "./standard-schema.ts";

const email = z.object({ to: z.string(), tags: z.array(z.number()).optional() });

function refusal(schema: StandardSchema, value: unknown): PayloadValidationError {
  try {
    void validateWith(schema, value, "payload of email.send");
  } catch (error) {
    expect(error).toBeInstanceOf(PayloadValidationError);
    return error as PayloadValidationError;
  }
  throw new Error("was not refused");
}

/** A schema of our own that always finds the same issues. */
function finding(
  issues: readonly { message: string; path?: readonly PropertyKey[] }[],
): StandardSchema {
  return { "~standard": { version: 1, vendor: "test", validate: () => ({ issues }) } };
}

describe("validateWith", () => {
  it("answers at once when the schema does, with what the schema makes of the value", () => {
    expect(validateWith(email, { to: "a", extra: 1 }, "payload")).toEqual({ to: "a" });
    const date = z.string().transform((text) => new Date(text));
    expect(validateWith(date, "2030-01-01", "payload")).toEqual(new Date("2030-01-01"));
  });

  it("answers with a promise when the schema needs time", async () => {
    const late = z.string().refine(async (text) => Promise.resolve(text.length > 2));
    const answer = validateWith(late, "abc", "payload");
    expect(answer).toBeInstanceOf(Promise);
    await expect(answer).resolves.toBe("abc");
    await expect(async () => validateWith(late, "a", "payload")).rejects.toThrow(
      PayloadValidationError,
    );
  });

  it("lists what is wrong and where", () => {
    const error = refusal(email, { to: 5, tags: [1, "x"] });
    expect(error.issues.map((issue) => issue.path)).toEqual(["to", "tags[1]"]);
    expect(error.message).toMatch(
      /^payload of email\.send does not fit its schema: to: .+; tags\[1\]: .+/,
    );
  });

  it("speaks of the whole value without a path", () => {
    const error = refusal(email, "text");
    expect(error.issues).toHaveLength(1);
    expect(error.issues[0]?.path).toBe("");
    expect(error.message).toMatch(/schema: [^:;]+: /);
  });

  it("lists five issues at most and says how many more there are", () => {
    const issues = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ message: `m${index}` }));
    expect(refusal(finding(issues(5)), 1).message).toMatch(/schema: m0; m1; m2; m3; m4$/);
    expect(refusal(finding(issues(6)), 1).message).toMatch(/m4; and 1 more$/);
    const many = refusal(finding(issues(100_000)), 1);
    expect(many.message).toMatch(/; and 99995 more$/);
    expect(many.issues).toHaveLength(100);
  });

  it("cleans and cuts what a schema says", () => {
    const path = ["a b", 0, Symbol("s")];
    const [issue] = refusal(finding([{ message: `bad\0${"x".repeat(500)}`, path }]), 1).issues;
    expect(issue?.path).toBe('["a b"][0]["Symbol(s)"]');
    expect(issue?.message).toHaveLength(200);
    expect(issue?.message).not.toContain("\0");
  });

  it("reads paths whose parts are objects with a key", () => {
    const issue = { message: "m", path: [{ key: "a" }, { key: 1 }] };
    const schema = {
      "~standard": { version: 1, vendor: "test", validate: () => ({ issues: [issue] }) },
    } as const;
    expect(refusal(schema, 1).issues[0]?.path).toBe("a[1]");
  });

  it("lets pass what the schema's own code throws: it says nothing about the value", async () => {
    const broken = z.string().transform(() => {
      throw new RangeError("bug");
    });
    await expect(async () => validateWith(broken, "x", "payload")).rejects.toThrow(RangeError);
  });
});

it("isStandardSchema knows schemas that are objects and schemas that are functions", () => {
  const asFunction = Object.assign(() => 1, {
    "~standard": { version: 1, vendor: "f", validate: () => ({ value: 1 }) },
  });
  for (const schema of [email, z.string(), asFunction, finding([])])
    expect(isStandardSchema(schema)).toBe(true);
  for (const other of [
    null,
    undefined,
    {},
    () => 1,
    "x",
    { "~standard": { version: 2, validate: () => 1 } },
    { "~standard": { version: 1 } },
  ]) {
    expect(isStandardSchema(other)).toBe(false);
  }
});

it("types of input and output are those of the schema", () => {
  const schema = z.object({
    at: z.string().transform((text) => new Date(text)),
    n: z.number().default(1),
  });
  expectTypeOf<InferInput<typeof schema>>().toEqualTypeOf<{ at: string; n?: number | undefined }>();
  expectTypeOf<InferOutput<typeof schema>>().toEqualTypeOf<{ at: Date; n: number }>();
  expectTypeOf(validateWith<InferOutput<typeof schema>>).returns.toEqualTypeOf<
    { at: Date; n: number } | Promise<{ at: Date; n: number }>
  >();
});
