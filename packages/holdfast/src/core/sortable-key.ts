/**
 * Keys are listed by UTF-16 code unit, as JavaScript compares strings; databases compare UTF-8, which
 * sorts U+E000 to U+FFFF before the characters beyond U+FFFF instead of after them. So those are
 * stored behind a mark that sorts last. Keys without them, nearly all, are stored as they are.
 */
const MARK = "\u{10FFFF}";

export function sortable(key: string): string {
  return key.replace(/[\uE000-\uFFFF]|\u{10FFFF}/gu, (character) =>
    character === MARK ? `${MARK}\u0001` : MARK + character,
  );
}

export function fromSortable(stored: string): string {
  return stored.replace(/\u{10FFFF}(.)/gu, (_, character: string) =>
    character === "\u0001" ? MARK : character,
  );
}
