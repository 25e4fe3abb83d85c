/**
 * JSON with its numbers as they were written. A number above 2^53 is read by a browser as another number; here it
 * stays a text until it is shown, and is sent back as it came.
 */

/** A number that would not come through `Number` unharmed. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const keepExact: Reviver = (_, value, context) => {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined) return value;
  return isHarmless(value, source) ? value : new ExactNumber(source);
};

/** 1.0 and 1e3 are harmless; 9007199254740993 and 0.1000000000000000055 are not. */
function isHarmless(value: number, source: string): boolean {
  if (String(value) === source) return true;
  if (!Number.isFinite(value)) return false;
  const digits = source.replace(/e.*$/i, "").replace(/[-.]/g, "").replace(/^0+/, "");
  return digits.replace(/0+$/, "").length <= 15;
}

export function parseExact(text: string): unknown {
  return JSON.parse(text, keepExact as (key: string, value: unknown) => unknown) as unknown;
}

/** As it would be written, two blanks deep. */
export function printExact(value: unknown, indent = 2): string {
  return print(value, indent, "");
}

function print(value: unknown, indent: number, margin: string): string {
  if (value instanceof ExactNumber) return value.text;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const deeper = margin + " ".repeat(indent);
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((item) => print(item, indent, deeper))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => {
          const space = indent > 0 ? " " : "";
          return `${JSON.stringify(key)}:${space}${print(item, indent, deeper)}`;
        });
  const [open, close] = isList ? "[]" : "{}";
  if (parts.length === 0) return `${open}${close}`;
  if (indent === 0) return `${open}${parts.join(",")}${close}`;
  return `${open}\n${parts.map((part) => deeper + part).join(",\n")}\n${margin}${close}`;
}
