/** A payload to begin with, from the JSON schema of a type: every field that is needed, with an empty value. */
type Schema = Readonly<Record<string, unknown>>;

const DEEPEST = 6;

export function samplePayload(schema: Schema, depth = 0): unknown {
  if ("default" in schema) return schema["default"];
  if ("const" in schema) return schema["const"];
  const {
    enum: words,
    anyOf,
    oneOf,
    type,
    properties,
    required,
  } = schema as {
    readonly enum?: readonly unknown[];
    readonly anyOf?: readonly Schema[];
    readonly oneOf?: readonly Schema[];
    readonly type?: string | readonly string[];
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly required?: readonly string[];
  };
  if (words) return words[0];
  const [first] = anyOf ?? oneOf ?? [];
  if (first) return samplePayload(first, depth);
  const kind = typeof type === "string" ? type : type?.[0];
  if (kind === "string") return "";
  if (kind === "number" || kind === "integer") return 0;
  if (kind === "boolean") return false;
  if (kind === "array") return [];
  if (kind === "null") return null;
  if (depth >= DEEPEST) return {};
  const needed = Object.entries(properties ?? {}).filter(([name]) => required?.includes(name));
  return Object.fromEntries(needed.map(([name, one]) => [name, samplePayload(one, depth + 1)]));
}
