/** `@Body(zodBody(schema))`: a body that does not fit is 422, and every problem says where. */
import { UnprocessableEntityException, type PipeTransform } from "@nestjs/common";
import type { z } from "zod";

const NO_NUL = "a text has no NUL in it";

export function zodBody<Schema extends z.ZodType>(
  schema: Schema,
): PipeTransform<unknown, z.output<Schema>> {
  return {
    transform(given: unknown) {
      const read = schema.safeParse(given ?? {});
      const nul = read.success ? nulAt(read.data) : null;
      if (read.success && nul === null) return read.data;
      const issues = read.error?.issues ?? [{ path: nul ?? [], message: NO_NUL }];
      const errors = issues.map(({ path, message }) => ({
        path: path.map(String).join("."),
        message,
      }));
      const where = [...new Set(errors.map(({ path }) => path || "the body"))].join(", ");
      throw new UnprocessableEntityException({
        ...{ statusCode: 422, error: "Unprocessable Entity" },
        ...{ message: `this does not fit: ${where}`, errors },
      });
    },
  };
}

/** Where a text has a NUL: PostgreSQL takes none, so no database gets one. Not recursive: a body may be deep. */
function nulAt(given: unknown): readonly string[] | null {
  const rest: (readonly [value: unknown, path: readonly string[]])[] = [[given, []]];
  for (const [value, path] of rest) {
    if (typeof value === "string" && value.includes("\0")) return path;
    if (typeof value !== "object" || value === null) continue;
    for (const [name, one] of Object.entries(value)) rest.push([one, [...path, name].slice(0, 10)]);
  }
  return null;
}
