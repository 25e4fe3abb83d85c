/** Reading what scripts answer. They answer what we wrote them to answer, so a surprise is a bug. */
import type { Reply } from "./client-like.ts";

export function list(reply: Reply | undefined): readonly Reply[] {
  if (Array.isArray(reply)) return reply as readonly Reply[];
  throw new Error("a script answered no list");
}

export function bytes(reply: Reply | undefined): Buffer {
  if (Buffer.isBuffer(reply)) return reply;
  throw new Error("a script answered no text");
}

export function text(reply: Reply | undefined): string {
  return typeof reply === "string" ? reply : bytes(reply).toString("utf8");
}

export function textOrNull(reply: Reply | undefined): string | null {
  return reply === null || reply === undefined ? null : text(reply);
}

export function number(reply: Reply | undefined): number {
  return typeof reply === "number" ? reply : Number(text(reply));
}

export function numberOrNull(reply: Reply | undefined): number | null {
  if (reply === null || reply === undefined) return null;
  const value = typeof reply === "number" ? String(reply) : text(reply);
  return value === "" ? null : Number(value);
}

/** Items of so many parts each. */
export function rows(replies: readonly Reply[], width: number): (readonly Reply[])[] {
  const found: (readonly Reply[])[] = [];
  for (let from = 0; from < replies.length; from += width) {
    found.push(replies.slice(from, from + width));
  }
  return found;
}
