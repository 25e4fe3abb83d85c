/** What a number format shows: numbers, dates, times of a day, or a stretch of time. */
export type FormatKind = "number" | "date" | "time" | "elapsed";

/** The formats that every workbook has without naming them (ECMA-376, 18.8.30, with those of East Asia). */
export function builtInKind(id: number): FormatKind {
  if (id === 46) return "elapsed";
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || id === 45 || id === 47) return "time";
  if ((id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return "date";
  return "number";
}

/** Of a custom format. Its first part is the one for numbers that are not negative. */
export function kindOfFormat(code: string): FormatKind {
  const [first = ""] = bare(code).split(";");
  if (/\[(h+|m+|s+)\]/i.test(first)) return "elapsed";
  const letters = first.replace(/\[[^\]]*\]/g, "").replace(/general/gi, "");
  // In 0.00E+00 the letter is no year.
  const marks = letters.replace(/E[+-]/gi, "").toLowerCase();
  if (/[yd]/.test(marks)) return "date";
  if (/[hs]/.test(marks)) return "time";
  return marks.includes("m") ? "date" : "number";
}

/** Excel's own limit of a format. */
const MOST_CHARACTERS = 255;

/** Without what is shown as it stands: quoted texts, escaped characters, widths and fillings. */
function bare(code: string): string {
  return code.slice(0, MOST_CHARACTERS).replace(/"[^"]*"?|\\.|_.|\*./g, "");
}
