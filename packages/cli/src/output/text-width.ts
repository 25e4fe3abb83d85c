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

// oxlint-disable-next-line no-control-regex -- colours are said like that
const PARTS = /\u001b\[[0-9;]*m|[\s\S]/gu;
// oxlint-disable-next-line no-control-regex -- colours are said like that
const COLOURS = /\u001b\[[0-9;]*m/g;

/** The same for a line with colours: they take no room, and those that were begun are ended. */
export function cutPainted(line: string, width: number): string {
  const plain = line.replaceAll(COLOURS, "");
  if (textWidth(plain) <= width) return line;
  let room = Array.from(cut(plain, width)).length - 1;
  let [kept, isCut] = ["", false];
  for (const [part] of line.matchAll(PARTS)) {
    if (part.length > 1 && part.startsWith("\u001b")) kept += part;
    else if (room-- > 0) kept += part;
    else if (!isCut) [kept, isCut] = [width < 1 ? kept : `${kept}…`, true];
  }
  return kept;
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
