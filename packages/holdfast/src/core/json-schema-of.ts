import type { StandardSchema } from "./standard-schema.ts";

/** Standard JSON Schema (https://standardschema.dev): what some libraries add to a schema. */
interface Describing {
  readonly jsonSchema?: {
    readonly input?: (options: { readonly target: string }) => unknown;
  };
}

/** What a schema takes, as JSON Schema; null where its library cannot say it, or this schema cannot be said so. */
export function jsonSchemaOf(schema: StandardSchema): object | null {
  const { jsonSchema } = schema["~standard"] as Describing;
  try {
    const made = jsonSchema?.input?.({ target: "draft-2020-12" });
    return typeof made === "object" ? made : null;
  } catch {
    return null;
  }
}
