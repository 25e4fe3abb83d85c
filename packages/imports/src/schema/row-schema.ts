/**
 * Schemas of rows: any Standard Schema (zod, valibot, arktype, Joi 18), and older Joi by its `validate`. What is
 * wrong with a row becomes one sentence for the person who has the sheet.
 */
import type { StandardSchema } from "holdfast";

/** Joi before 18, by its shape. */
export interface ValidateLike<Row = unknown> {
  validate(
    value: unknown,
    options?: object,
  ): { readonly error?: JoiErrorLike | undefined; readonly value?: Row | undefined };
}

interface JoiErrorLike {
  readonly message: string;
  readonly details?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
  }[];
}

export type RowSchema<Row = unknown> = StandardSchema<unknown, Row> | ValidateLike<Row>;

export type Judged<Row> =
  { readonly row: Row; readonly reason?: undefined } | { readonly reason: string };

const MOST_ISSUES = 5;
export const MOST_REASON_CHARS = 300;

export function isRowSchema(value: unknown): value is RowSchema {
  return isStandard(value) || isValidateLike(value);
}

/** A promise only if the schema needs one. */
export function judgeRow<Row>(
  schema: RowSchema<Row>,
  row: unknown,
): Judged<Row> | Promise<Judged<Row>> {
  if (!isStandard(schema)) return judgeByValidate(schema as ValidateLike<Row>, row);
  const result = (schema as StandardSchema<unknown, Row>)["~standard"].validate(row);
  if ("then" in result) return Promise.resolve(result).then(judgedOf);
  return judgedOf(result);
}

interface Issue {
  readonly message: string;
  readonly path?: readonly unknown[] | undefined;
}

function judgedOf<Row>(
  result:
    { readonly value: Row; readonly issues?: undefined } | { readonly issues: readonly Issue[] },
): Judged<Row> {
  if (result.issues === undefined) return { row: result.value };
  return { reason: reasonOf(result.issues) };
}

function judgeByValidate<Row>(schema: ValidateLike<Row>, row: unknown): Judged<Row> {
  const { error, value } = schema.validate(row, { abortEarly: false });
  if (error === undefined || error === null) return { row: value as Row };
  return { reason: reasonOf(error.details ?? [{ message: error.message }]) };
}

function reasonOf(issues: readonly Issue[]): string {
  const listed = issues.slice(0, MOST_ISSUES).map(({ message, path = [] }) => {
    const name = path.map(wordOf).join(".");
    // Joi names the field itself.
    return name === "" || message.includes(name) ? message : `${name}: ${message}`;
  });
  if (issues.length > listed.length) listed.push(`and ${issues.length - listed.length} more`);
  return cleanReason(listed.join("; ") || "the row does not fit its schema");
}

function wordOf(part: unknown): string {
  const key: unknown = typeof part === "object" && part !== null && "key" in part ? part.key : part;
  return String(key);
}

/** On one line, and no longer than a person reads. */
export function cleanReason(text: string): string {
  // oxlint-disable-next-line no-control-regex -- those are what is taken out
  const line = text.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  return line.length <= MOST_REASON_CHARS ? line : `${line.slice(0, MOST_REASON_CHARS - 1)}…`;
}

function isStandard(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard = (value as Partial<StandardSchema>)["~standard"];
  return standard?.version === 1 && typeof standard.validate === "function";
}

function isValidateLike(value: unknown): value is ValidateLike {
  if (typeof value !== "object" || value === null) return false;
  return typeof (value as Partial<ValidateLike>).validate === "function";
}
