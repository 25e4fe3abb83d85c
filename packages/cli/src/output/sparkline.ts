/** Numbers as a line of bars, one character each. */
const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** `most`: what fills a bar; nothing at all is a blank. */
export function sparkline(numbers: readonly number[], most: number): string {
  return numbers
    .map((number) => {
      if (number <= 0 || most <= 0) return " ";
      return BARS[Math.min(BARS.length - 1, Math.floor((number / most) * (BARS.length - 0.001)))]!;
    })
    .join("");
}
