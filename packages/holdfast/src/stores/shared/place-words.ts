/** Where a server is and why it did not answer, for messages: never a user's password. */
import { cleanText } from "../../core/text.ts";

/** `host:5432` (several hosts as they are written); "the given address" if the URL cannot be read. */
export function addressOf(url: string): string {
  const [, hosts = ""] = /^[a-z+]+:\/\/(?:[^@/]*@)?([^/?#]*)/i.exec(url) ?? [];
  return hosts === "" ? "the given address" : cleanText(hosts, 200);
}

/** The last part of its path, decoded. */
export function databaseNameOf(url: string): string {
  const [, name = ""] = /^[a-z+]+:\/\/[^/]*\/([^?#]*)/i.exec(url) ?? [];
  try {
    return cleanText(decodeURIComponent(name), 100);
  } catch {
    return cleanText(name, 100);
  }
}

/**
 * In a word: `ECONNREFUSED`, `ENOTFOUND`, or the first words of the innermost error. An error that tried
 * several addresses has no words of its own.
 */
export function causeWords(error: unknown): string {
  let word = "";
  for (let link: unknown = error, depth = 0; link instanceof Error && depth < 5; depth += 1) {
    const { code } = link as NodeJS.ErrnoException;
    const said = typeof code === "string" && /^E[A-Z_]+$/.test(code) ? code : link.message;
    if (said !== "") word = said;
    link = link.cause;
  }
  // Some drivers quote the URL they were given.
  return cleanText(word.replace(/:\/\/[^@\s/]*@/g, "://"), 200) || "no reason was given";
}
