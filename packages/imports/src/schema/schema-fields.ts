/**
 * The names of the fields that a schema takes, where it tells them: headers are matched with them. A Standard
 * Schema has no way to ask, so the ways of the known libraries are tried, by shape.
 */
export interface SchemaFields {
  readonly names: readonly string[];
  /** It keeps fields that it does not name. */
  readonly takesOthers: boolean;
}

interface Shapes {
  /** Our own. */
  readonly fields?: unknown;
  /** zod. */
  readonly shape?: unknown;
  readonly _def?: { readonly unknownKeys?: unknown; readonly catchall?: unknown };
  /** valibot. */
  readonly entries?: unknown;
  readonly type?: unknown;
  /** Joi. */
  readonly describe?: unknown;
}

/** Null: the schema does not tell. */
export function fieldsOf(schema: unknown): SchemaFields | null {
  const { fields, shape, _def, entries, type, describe } = Object(schema) as Shapes;
  if (Array.isArray(fields)) return { names: fields as string[], takesOthers: false };
  if (isNames(shape)) {
    const isLoose = _def?.unknownKeys === "passthrough" || isOpen(_def?.catchall);
    return { names: Object.keys(shape), takesOthers: isLoose };
  }
  if (isNames(entries) && typeof type === "string") {
    return { names: Object.keys(entries), takesOthers: type === "loose_object" };
  }
  return typeof describe === "function" ? fieldsOfJoi(schema) : null;
}

function fieldsOfJoi(schema: unknown): SchemaFields | null {
  const { keys, flags } = describeJoi(schema as { describe(): unknown });
  if (!isNames(keys)) return null;
  return { names: Object.keys(keys), takesOthers: flags?.unknown === true };
}

function describeJoi(schema: { describe(): unknown }): {
  readonly keys?: unknown;
  readonly flags?: { readonly unknown?: unknown };
} {
  try {
    return Object(schema.describe()) as object;
  } catch {
    return {};
  }
}

/** zod 4: a loose object has a catchall that takes anything, a strict one a catchall that takes nothing. */
function isOpen(catchall: unknown): boolean {
  const { type, typeName } = Object((Object(catchall) as { readonly _def?: unknown })._def) as {
    readonly type?: unknown;
    readonly typeName?: unknown;
  };
  return catchall != null && type !== "never" && typeName !== "ZodNever";
}

function isNames(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
