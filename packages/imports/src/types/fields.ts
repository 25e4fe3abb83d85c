/** The schemas of the built-in types: a few kinds of fields, as Standard Schema, without a dependency. */
import type { StandardSchema } from "holdfast";

type Read = (cell: unknown) => { readonly value: unknown } | { readonly problem: string };

export interface Field {
  readonly read: Read;
  readonly isRequired: boolean;
}

export interface BuiltInSchema<Row> extends StandardSchema<unknown, Row> {
  readonly fields: readonly string[];
}

export function text(mostChars = 500): Field {
  return field((cell) => {
    const value = String(cell);
    return value.length <= mostChars
      ? { value }
      : { problem: `has more than ${mostChars} characters` };
  });
}

/** In small letters: one mailbox is one customer. */
export function email(): Field {
  return field((cell) => {
    const value = String(cell).toLowerCase();
    const isOne = value.length <= 254 && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value);
    return isOne ? { value } : { problem: "is no e-mail address" };
  });
}

/** A number, or a text that is one: `1234.5`. */
export function amount(): Field {
  return field((cell) => {
    const value = numberOf(cell);
    return value === null ? { problem: "is no number" } : { value };
  });
}

export function whole(min: number, max: number): Field {
  return field((cell) => {
    const value = numberOf(cell);
    const isOne = value !== null && Number.isInteger(value) && value >= min && value <= max;
    return isOne ? { value } : { problem: `is no whole number from ${min} to ${max}` };
  });
}

/** ISO, without a zone: a sheet has none. */
export function day(): Field {
  return field((cell) => {
    const [, value = ""] = /^(\d{4}-\d{2}-\d{2})(?:T[\d:.]+)?$/.exec(String(cell)) ?? [];
    const isOne = value !== "" && new Date(`${value}T00:00:00Z`).toJSON()?.startsWith(value);
    return isOne ? { value } : { problem: "is no date such as 2026-01-31" };
  });
}

export function required(one: Field): Field {
  return { ...one, isRequired: true };
}

export function rowOfFields<Row>(fields: Readonly<Record<string, Field>>): BuiltInSchema<Row> {
  return {
    fields: Object.keys(fields),
    "~standard": {
      ...{ version: 1, vendor: "holdfast" },
      validate(given) {
        const cells = Object(given) as Readonly<Record<string, unknown>>;
        const row: Record<string, unknown> = {};
        const issues: { message: string; path: string[] }[] = [];
        for (const [name, { read, isRequired }] of Object.entries(fields)) {
          const cell = cells[name];
          if (cell === undefined || cell === null) {
            if (isRequired) issues.push({ message: "is missing", path: [name] });
            continue;
          }
          const answer = read(cell);
          if ("problem" in answer) issues.push({ message: answer.problem, path: [name] });
          else row[name] = answer.value;
        }
        return issues.length === 0 ? { value: row as Row } : { issues };
      },
    },
  };
}

function field(read: Read): Field {
  return { read, isRequired: false };
}

/** A cell may have many thousand digits and a letter behind them: each digit belongs to one part of it only. */
const NUMBER = /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i;

function numberOf(cell: unknown): number | null {
  if (typeof cell === "number") return Number.isFinite(cell) ? cell : null;
  if (typeof cell !== "string" || !NUMBER.test(cell)) return null;
  const value = Number(cell);
  return Number.isFinite(value) ? value : null;
}
