/**
 * Leaves out the functions that a script does not call. The server makes all functions of a script anew
 * at every call, which takes it longer than what a call for one job does.
 */
export function withoutUncalled(lines: readonly string[]): string[] {
  const pieces = piecesOf(lines);
  const functions = new Map(
    pieces.flatMap((piece) => (piece.name === null ? [] : [[piece.name, piece]])),
  );
  const kept = new Set(pieces.filter(({ name }) => name === null));
  // A set is walked through to its end, also to what was added on the way.
  for (const { lines: own } of kept) {
    for (const word of own.join("\n").match(/\w+/g) ?? []) {
      const called = functions.get(word);
      if (called !== undefined) kept.add(called);
    }
  }
  return pieces.filter((piece) => kept.has(piece)).flatMap((piece) => piece.lines);
}

interface Piece {
  /** Of a function; all that is outside of functions has none, and stays. */
  readonly name: string | null;
  readonly lines: string[];
}

function piecesOf(lines: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  let depth = 0;
  for (const line of lines) {
    if (depth === 0) {
      pieces.push({ name: /^local function (\w+)/.exec(line)?.[1] ?? null, lines: [] });
    }
    pieces.at(-1)?.lines.push(line);
    depth += blocksOpened(line);
  }
  return pieces;
}

/** `for` and `while` open theirs with `do`, `elseif` and `else` none. */
function blocksOpened(line: string): number {
  const words = line.replaceAll(/'[^']*'|--.*/g, "").match(/\w+/g) ?? [];
  return words.reduce((depth, word) => {
    if (word === "function" || word === "if" || word === "do" || word === "repeat")
      return depth + 1;
    return word === "end" || word === "until" ? depth - 1 : depth;
  }, 0);
}
