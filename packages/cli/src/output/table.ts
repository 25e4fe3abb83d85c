/** Tables that fit the terminal: what can be cut is cut, the widest first. Without a terminal nothing is cut. */
import { clean } from "./clean.ts";
import type { Paint } from "./paint.ts";
import { cut, textWidth } from "./text-width.ts";

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => unknown;
  readonly align?: "right";
  /** It may be cut to so many columns. Without it, never. */
  readonly atLeast?: number;
  /** It is left out where there is no room even so; the last such column goes first. */
  readonly mayGo?: boolean;
  readonly paint?: (row: Row, paint: Paint) => ((text: string) => string) | undefined;
}

const GAP = "  ";

export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width, paint }: { readonly width: number; readonly paint: Paint },
): string {
  const cells = rows.map((row) => columns.map(({ value }) => shown(value(row))));
  const widths = columns.map(({ title }, at) =>
    Math.max(textWidth(title), ...cells.map((line) => textWidth(line[at] ?? ""))),
  );
  const room = width - GAP.length * (columns.length - 1);
  fit(widths, columns, room);
  const goes = columns.findLastIndex(({ mayGo }) => mayGo === true);
  if (sum(widths) > room && goes >= 0) {
    return table(rows, columns.toSpliced(goes, 1), { width, paint });
  }
  const line = (texts: readonly string[], dress: (text: string, at: number) => string) =>
    texts
      .map((text, at) => dress(pad(cut(text, widths[at] ?? 0), widths[at] ?? 0, columns[at]), at))
      .join(GAP)
      .trimEnd();
  const head = line(
    columns.map(({ title }) => title),
    (text) => paint.dim(text),
  );
  const body = cells.map((texts, index) =>
    line(texts, (text, at) => {
      const dress = columns[at]?.paint?.(rows[index] as Row, paint);
      return dress ? dress(text) : text;
    }),
  );
  return [head, ...body, ""].join("\n");
}

function shown(value: unknown): string {
  return value === null || value === undefined || value === "" ? "–" : clean(value);
}

function pad(text: string, width: number, column: Column<never> | undefined): string {
  const blanks = " ".repeat(Math.max(0, width - textWidth(text)));
  return column?.align === "right" ? blanks + text : text + blanks;
}

/** Takes from the widest that may give, until it fits or none can. */
function fit(widths: number[], columns: readonly Column<never>[], room: number): void {
  for (let over = sum(widths) - room; over > 0; over = sum(widths) - room) {
    let widest = -1;
    for (const [at, { atLeast }] of columns.entries()) {
      const canGive = atLeast !== undefined && (widths[at] ?? 0) > atLeast;
      if (canGive && (widest < 0 || (widths[at] ?? 0) > (widths[widest] ?? 0))) widest = at;
    }
    if (widest < 0) return;
    const least = columns[widest]?.atLeast ?? 0;
    widths[widest] = Math.max(least, (widths[widest] ?? 0) - Math.max(1, Math.ceil(over / 2)));
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
