/**
 * What the five systems consist of, as ids: `1.2` is the second heading of system 1, `1.2.3` the third row below it.
 * Rows are those of tables, and the items of lists that are tables in all but their form. The texts themselves are
 * not ours and not here; whoever has them can compare: `node scripts/check-systems.ts --texts <folder>`.
 */
export interface Outline {
  /** How many headings there are. */
  readonly sections: number;
  /** How many rows stand below a heading, by its number; others have none. */
  readonly rows: Readonly<Record<number, number>>;
}

export const OUTLINES: Readonly<Record<string, Outline>> = {
  1: { sections: 21, rows: { 2: 8, 3: 6, 5: 4, 6: 13, 7: 3, 10: 4, 11: 6, 20: 3 } },
  2: { sections: 53, rows: { 15: 6, 21: 3 } },
  3: { sections: 31, rows: { 4: 6, 10: 7, 11: 17, 14: 5, 20: 7 } },
  4: { sections: 16, rows: { 2: 9, 5: 4, 6: 7, 7: 2, 8: 8, 9: 6, 10: 6, 13: 4, 15: 3, 16: 4 } },
  5: { sections: 12, rows: { 3: 4, 4: 7, 7: 7, 10: 3, 11: 3 } },
};

/** Lists that count as tables: those of every section, or of the named ones. */
const LISTS: Readonly<Record<string, readonly number[] | "all">> = {
  ...{ 1: "all", 4: "all", 5: "all" },
  ...{ 2: [15, 21], 3: [10] },
};

export function outlineIds(outlines: Readonly<Record<string, Outline>> = OUTLINES): string[] {
  const ids: string[] = [];
  for (const [system, { sections, rows }] of Object.entries(outlines)) {
    for (let section = 1; section <= sections; section += 1) {
      ids.push(`${system}.${section}`);
      for (let row = 1; row <= (rows[section] ?? 0); row += 1) {
        ids.push(`${system}.${section}.${row}`);
      }
    }
  }
  return ids;
}

/** The outline of a text in Markdown, which is where the numbers above are from. */
export function outlineOf(system: string, text: string): Outline {
  const rows: Record<number, number> = {};
  const lists = LISTS[system] ?? [];
  const lines = text.split("\n");
  let sections = 0;
  let isCode = false;
  for (const [at, line] of lines.entries()) {
    if (line.trim().startsWith("```")) isCode = !isCode;
    if (isCode) continue;
    if (/^#{1,6} /.test(line)) sections += 1;
    const isRow = line.startsWith("|") && !isRule(line) && !isRule(lines[at + 1] ?? "");
    const isItem = /^([-*]|\d+\.) /.test(line) && (lists === "all" || lists.includes(sections));
    if (isRow || isItem) rows[sections] = (rows[sections] ?? 0) + 1;
  }
  return { sections, rows };
}

/** The line between the head of a table and its rows. */
function isRule(line: string): boolean {
  return /^\|[-| :]+$/.test(line);
}
