import { canonicalJson } from "./json-text.ts";

/**
 * The text whose SHA-256 says whether two jobs ask for the same work. The type is a part of it, and
 * cannot run into the payload: a type holds no line feed.
 */
export function dedupeText(type: string, json: string): string {
  return `${type}\n${canonicalJson(json)}`;
}
