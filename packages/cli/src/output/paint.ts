/** Colours, where there is a terminal that wants them. */
export interface Paint {
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
  inverse(text: string): string;
}

const plain = (text: string): string => text;
const code =
  (on: number, off: number) =>
  (text: string): string =>
    `\u001b[${on}m${text}\u001b[${off}m`;

export const NO_PAINT: Paint = {
  ...{ dim: plain, bold: plain, red: plain, green: plain, yellow: plain, cyan: plain },
  inverse: plain,
};

export const ANSI_PAINT: Paint = {
  ...{ dim: code(2, 22), bold: code(1, 22), red: code(31, 39), green: code(32, 39) },
  ...{ yellow: code(33, 39), cyan: code(36, 39), inverse: code(7, 27) },
};

/** The colour of a job's status. */
export function statusPaint(status: string, paint: Paint): ((text: string) => string) | undefined {
  switch (status) {
    case "dead":
      return paint.red;
    case "succeeded":
      return paint.green;
    case "processing":
      return paint.cyan;
    case "cancelled":
      return paint.yellow;
    default:
      return undefined;
  }
}
