/**
 * Standard Schema, version 1 (https://standardschema.dev): the one shape that zod, valibot, arktype
 * and others share. Only what Holdfast needs of it, described structurally, so that no validation
 * library is a dependency.
 */
import { PayloadValidationError, type SchemaIssue } from "./errors.ts";
import { cleanText } from "./text.ts";
import { formatPath, type PathPart } from "./value-path.ts";

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Never there at run time: where the two types are kept for the compiler. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly RawIssue[] };

export interface RawIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What the schema takes. */
export type InferInput<Schema extends StandardSchema> = NonNullable<
  Schema["~standard"]["types"]
>["input"];

/** What the schema makes of it. */
export type InferOutput<Schema extends StandardSchema> = NonNullable<
  Schema["~standard"]["types"]
>["output"];

/** How many issues a message lists, and an error carries: a list of a million bad rows is one mistake. */
const LISTED = 5;
const KEPT = 100;

/** Some libraries' schemas are functions, so both are looked at. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard = (value as Partial<StandardSchema>)["~standard"];
  return standard?.version === 1 && typeof standard.validate === "function";
}

type Refusal = new (message: string, issues: readonly SchemaIssue[]) => Error;

/**
 * The value as the schema makes it; a promise only if the schema needs one. Throws
 * `PayloadValidationError`, unless it is told otherwise. What the schema's own code throws passes through: it says nothing about
 * the value.
 */
export function validateWith<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
  what: string,
  Refused: Refusal = PayloadValidationError,
): Output | Promise<Output> {
  const result = schema["~standard"].validate(value);
  // Not `instanceof Promise`: any thenable will do, also one of another realm.
  if ("then" in result) return Promise.resolve(result).then((late) => accept(late, what, Refused));
  return accept(result, what, Refused);
}

function accept<Output>(result: SchemaResult<Output>, what: string, Refused: Refusal): Output {
  if (result.issues === undefined) return result.value;
  const issues = result.issues.slice(0, KEPT).map(readIssue);
  const listed = issues
    .slice(0, LISTED)
    .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  const more = result.issues.length - listed.length;
  if (more > 0) listed.push(`and ${more} more`);
  throw new Refused(`${what} does not fit its schema: ${listed.join("; ")}`, issues);
}

function readIssue(issue: RawIssue): SchemaIssue {
  const parts = (issue.path ?? []).map((part): PathPart => {
    const key = typeof part === "object" ? part.key : part;
    return typeof key === "symbol" ? String(key) : key;
  });
  return { path: formatPath("", parts), message: cleanText(issue.message, 200) };
}
