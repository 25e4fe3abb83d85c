/** A column, quoted or not, with what ends it. Quotes and backslashes inside quotes are doubled. */
const COLUMN = /("(?:[^"\\]+|""|\\\\)*"|[^,)"]*)[,)]/g;

/** A whole row as PostgreSQL writes it, `(1,"a ""quoted"" text",,{2})`, as the texts of its columns. */
export function rowOfRecord(record: string): (string | null)[] {
  return Array.from(record.slice(1).matchAll(COLUMN), ([, column = ""]) => {
    if (column === "") return null;
    if (!column.startsWith('"')) return column;
    return column.slice(1, -1).replaceAll(/""|\\\\/g, (pair) => pair.charAt(0));
  });
}
