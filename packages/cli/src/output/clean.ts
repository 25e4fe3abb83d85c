/**
 * What comes from a store is not trusted: a job's error message may hold codes that move the cursor, set the
 * title of a window or turn text around. None of them reaches a terminal.
 */

// Escape sequences whole, so that their letters do not stay behind.
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex -- that is what is looked for
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])|\u009b[0-?]*[ -/]*[@-~]/g;
const CONTROLS =
  // oxlint-disable-next-line no-control-regex -- that is what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** One line. */
export function clean(value: unknown): string {
  return cleanLines(value).replaceAll(/\s*[\n\t]\s*/g, " ");
}

/** Line feeds stay, tabs are blanks. */
export function cleanLines(value: unknown): string {
  const text = typeof value === "string" ? value : String(value);
  return text.replaceAll("\t", "  ").replaceAll(SEQUENCES, "").replaceAll(CONTROLS, "");
}

/** JSON for programs: nothing is lost, and what a terminal would obey is escaped. */
export function safeJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? "null").replaceAll(
    // oxlint-disable-next-line no-control-regex -- that is what is looked for
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
