/** Rows for a spreadsheet. A text that a spreadsheet would take for a formula is not one any more. */
export function csvText(
  names: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  return [names, ...rows].map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";
}

function csvField(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
