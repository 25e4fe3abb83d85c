/** A number as a cell has it. Most have a few digits: those are read without making a string of them. */
const POWERS = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);
/** So many digits are exact, and so is the power of ten below them: one division rounds as reading the text would. */
const EXACT_DIGITS = 15;
const MINUS = 45;
const POINT = 46;
/** Of many digits and a letter behind them: no two parts of it may take the same digits, or it looks at all divisions. */
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;

/** NaN if it is none. */
export function cellNumber(bytes: Buffer, from: number, to: number): number {
  const isNegative = bytes[from] === MINUS;
  let value = 0;
  let digits = 0;
  let pointAt = -1;
  for (let at = isNegative ? from + 1 : from; at < to; at += 1) {
    const byte = bytes[at]!;
    if (byte >= 48 && byte <= 57) {
      value = value * 10 + byte - 48;
      digits += 1;
    } else if (byte === POINT && pointAt === -1) {
      pointAt = digits;
    } else {
      return slowly(bytes, from, to);
    }
  }
  if (digits === 0 || digits > EXACT_DIGITS) return slowly(bytes, from, to);
  if (pointAt !== -1) value /= POWERS[digits - pointAt]!;
  // A zero has no sign in a sheet.
  return isNegative && value !== 0 ? -value : value;
}

function slowly(bytes: Buffer, from: number, to: number): number {
  const text = bytes.toString("latin1", from, to).trim();
  if (!NUMBER.test(text)) return Number.NaN;
  const value = Number(text);
  return Number.isFinite(value) ? value + 0 : Number.NaN;
}
