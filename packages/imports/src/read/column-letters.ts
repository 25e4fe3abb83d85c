/** `A` for 0, `Z` for 25, `AA` for 26: a column as the sheet shows it. */
export function columnLetters(index: number): string {
  let letters = "";
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  }
  return letters;
}

export function cellName(row: number, column: number): string {
  return `cell ${columnLetters(column)}${row}`;
}
