/** `@Body(zodBody(schema))`: a body that does not fit is 422, and every problem says where. */
import { UnprocessableEntityException, type PipeTransform } from "@nestjs/common";
import type { z } from "zod";

export function zodBody<Schema extends z.ZodType>(
  schema: Schema,
): PipeTransform<unknown, z.output<Schema>> {
  return {
    transform(given: unknown) {
      const read = schema.safeParse(given ?? {});
      if (read.success) return read.data;
      const errors = read.error.issues.map(({ path, message }) => ({
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
