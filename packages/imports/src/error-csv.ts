/** The rows that failed, as a file for the person who has the sheet. */
import type { RowError } from "./targets/target.ts";

/** With a mark in front: Excel takes it for UTF-8. */
export function errorCsv(errors: readonly RowError[]): string {
  const lines = errors.map(({ row, reason }) => `${row},${csvCell(reason)}`);
  return `\uFEFF${["row,reason", ...lines].join("\r\n")}\r\n`;
}

/**
 * A text that a spreadsheet would take for a formula gets an apostrophe in front: a reason can quote what a
 * stranger has written into a cell.
 */
export function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}
