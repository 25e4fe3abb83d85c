import { InvalidOptionError } from "holdfast";
import Joi from "joi";
import { expect, it } from "vitest";
import { z } from "zod";
import { BaseImportHandler } from "./base-import-handler.ts";
import { defineImport, type ImportOptions } from "./define-import.ts";
import { emptyTarget } from "./targets/empty-target.ts";

const target = emptyTarget();
const schema = z.object({ email: z.email() });

it.each([
  [{ typ: "x" }, 'did you mean "type"'],
  [{ type: "no name" }, "type must be a name"],
  [{ schema: {} }, "schema must be a Standard Schema"],
  [{ key: [] }, "key names the fields"],
  [{ target: {} }, "target says where rows go"],
  [{ aliases: { email: "Mail" } }, "aliases.email is a list"],
  [{ job: { retries: 1 } }, 'did you mean "retry"'],
])("refuses %j", (wrong, words) => {
  const options = { type: "customers", schema, key: ["email"], target, ...wrong };
  const define = () => defineImport(options as unknown as ImportOptions);
  expect(define).toThrow(InvalidOptionError);
  expect(define).toThrow(words);
});

it("a key that is a function tells its fields before a row is known", () => {
  const one = defineImport({ type: "a", schema, target, key: (row) => ({ email: row.email }) });
  expect(one.keyFields).toEqual(["email"]);
  const other = defineImport({
    type: "a",
    schema,
    target,
    key: (row) => ({ e: row.email.length }),
  });
  expect(other.keyFields).toEqual([]);
});

it("a handler that is a class is an import type", () => {
  interface ApDocument {
    readonly invoiceNumber: string;
  }
  class ImportApHandler extends BaseImportHandler<ApDocument> {
    protected readonly importType = "ap";
    protected readonly schema = Joi.object<ApDocument>({ invoiceNumber: Joi.string().required() });

    protected getUpsertFilter(row: ApDocument) {
      return { invoiceNumber: row.invoiceNumber };
    }
  }
  const { definition } = new ImportApHandler({ target });
  expect(definition).toMatchObject({ type: "ap", keyFields: ["invoiceNumber"] });
  expect(definition.keyOf({ invoiceNumber: "7" })).toEqual({ invoiceNumber: "7" });
});
