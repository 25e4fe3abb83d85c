/** Small looks at what a caller sent. */
import type { PortalObject } from "./portal.ts";

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A word that must not be there; null: all are known. */
export function unknownWord(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
): string | null {
  return Object.keys(value).find((word) => !known.includes(word)) ?? null;
}

/** An object as the API shows it. */
export function shown({ id, properties, createdAt, updatedAt }: PortalObject) {
  return {
    ...{ id, properties: { ...properties, hs_object_id: id }, archived: false },
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}
