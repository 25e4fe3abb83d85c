/** From the text of a row to values. Numbers of ours are whole and below 2^53. */
import type { Row } from "./database.ts";

export function text(row: Row, column: number): string {
  const value = row[column];
  if (typeof value !== "string") throw new Error(`column ${column} is null`);
  return value;
}

export function textOrNull(row: Row, column: number): string | null {
  return row[column] ?? null;
}

export function number(row: Row, column: number): number {
  return Number(text(row, column));
}

export function numberOrNull(row: Row, column: number): number | null {
  const value = row[column];
  return value === null || value === undefined ? null : Number(value);
}

/** A boolean of PostgreSQL is the letter t or f. */
export function isTrue(row: Row, column: number): boolean {
  return row[column] === "t";
}

/** An array of numbers or ids, in which nothing needs quotes; null for null. */
export function list(row: Row, column: number): (string | null)[] | null {
  const value = row[column];
  if (value === null || value === undefined) return null;
  const inside = value.slice(1, -1);
  if (inside === "") return [];
  return inside.split(",").map((item) => (item === "NULL" ? null : item));
}

export function numbers(row: Row, column: number): number[] {
  return (list(row, column) ?? []).map(Number);
}
