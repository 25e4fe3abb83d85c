/** Where inside a value something is, as a person would write it: `payload.user.tags[3]`. */
import { cleanText } from "./text.ts";

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const MAX_PATH_CHARS = 200;

export type PathPart = string | number;

export function formatPath(root: string, parts: readonly PathPart[]): string {
  let path = root;
  for (const part of parts) {
    if (typeof part === "number") path += `[${part}]`;
    else if (IDENTIFIER.test(part) && part.length <= 64) path += path === "" ? part : `.${part}`;
    else path += `["${cleanText(part, 40)}"]`;
    if (path.length > MAX_PATH_CHARS) return cleanText(path, MAX_PATH_CHARS);
  }
  return path;
}

/** The path to the first string, or object key, that `isBad`; null if there is none. For JSON values only. */
export function findText(
  value: unknown,
  root: string,
  isBad: (text: string) => boolean,
): string | null {
  const parts: PathPart[] = [];
  return visit(value) ? formatPath(root, parts) : null;

  function visit(item: unknown): boolean {
    if (typeof item === "string") return isBad(item);
    if (typeof item !== "object" || item === null) return false;
    const isArray = Array.isArray(item);
    for (const [key, inner] of Object.entries(item)) {
      parts.push(isArray ? Number(key) : key);
      if ((!isArray && isBad(key)) || visit(inner)) return true;
      parts.pop();
    }
    return false;
  }
}
