/** How many columns of a terminal a text takes. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
const NONE = /^\p{Mn}$/u;

export function textWidth(text: string): number {
  // Most text is plain, and then its length is its width.
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  let width = 0;
  for (const letter of text) width += NONE.test(letter) ? 0 : WIDE.test(letter) ? 2 : 1;
  return width;
}

/** At most so wide; what was cut off is shown by a dot. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let [kept, used] = ["", 0];
  for (const letter of text) {
    const next = textWidth(letter);
    if (used + next > width - 1) break;
    kept += letter;
    used += next;
  }
  return width < 1 ? "" : `${kept}…`;
}
