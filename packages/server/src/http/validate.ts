/** Holds what a request brings against the schemas of its route. */
import type { z } from "zod";
import { invalid, type FieldIssue } from "./http-error.ts";
import { NAME_PATTERN } from "../routes/words.ts";

/** A schema, as far as it must be known here. */
interface Known {
  readonly def: { readonly type: string; readonly innerType?: Known };
  readonly shape?: Readonly<Record<string, Known>>;
}

export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where: "query" | "body" | "path",
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.flatMap((issue) => nearest(issue));
  const isName = issues.some(
    (issue) => "pattern" in issue && issue.pattern === String(NAME_PATTERN),
  );
  throw invalid(
    issues.slice(0, 20).map((issue) => issueOf(issue, where)),
    isName ? "invalid_name" : undefined,
  );
}

/**
 * Where one of several shapes is taken, "invalid input" would name no field. So what was given is held against the
 * shape it comes nearest to: one of its kind, with the fewest fields that do not fit.
 */
function nearest(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const [best] = issue.errors
    .map((issues) => issues.flatMap((one) => nearest(one)))
    .filter((issues) => issues.length > 0)
    .toSorted((a, b) => distance(a) - distance(b));
  if (!best) return [issue];
  return best.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

function distance(issues: readonly z.core.$ZodIssue[]): number {
  const isOfAnotherKind = issues.some(
    ({ code, path }) => path.length === 0 && (code === "invalid_type" || code === "invalid_value"),
  );
  const fields = issues.map((one) => (one.code === "unrecognized_keys" ? one.keys.length : 1));
  return (isOfAnotherKind ? 1_000 : 0) + fields.reduce((sum, one) => sum + one, 0);
}

function issueOf(issue: z.core.$ZodIssue, where: string): FieldIssue {
  const path = issue.path.reduce<string>(
    (before, part) =>
      typeof part === "number" ? `${before}[${part}]` : `${before}.${String(part).slice(0, 100)}`,
    where,
  );
  return { path, message: issue.message.slice(0, 300) };
}

/**
 * A query is text: what its schema has as numbers, truth values and lists becomes that. What cannot be read so
 * stays a text, and the schema refuses it.
 */
export function queryValues(schema: z.ZodType, search: URLSearchParams): Record<string, unknown> {
  const shape = (schema as unknown as Known).shape ?? {};
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const name of new Set(search.keys())) {
    const texts = search.getAll(name);
    const type = Object.hasOwn(shape, name) ? typeOf(shape[name]) : "string";
    if (type === "array") values[name] = texts.flatMap((text) => text.split(","));
    else if (texts.length > 1) values[name] = texts;
    else values[name] = valueOf(type, texts[0] ?? "");
  }
  // The schema must see a plain object.
  return { ...values };
}

function typeOf(schema: Known | undefined): string {
  let inner = schema;
  while (inner?.def.innerType) inner = inner.def.innerType;
  return inner?.def.type ?? "string";
}

function valueOf(type: string, text: string): unknown {
  if (type === "number" && /^-?\d{1,16}(\.\d{1,16})?$/.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}
