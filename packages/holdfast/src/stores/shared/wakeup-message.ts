/** A wakeup as text, for servers that carry text between processes. */
import type { Wakeup } from "../../core/store.ts";

interface Message extends Wakeup {
  /** Who sent it: a process does not listen to itself. */
  readonly from: string;
}

export function messageOf(from: string, wakeup: Wakeup): string {
  return JSON.stringify({ from, ...wakeup } satisfies Message);
}

/** Anybody may speak on our channel. Null: no message of ours, or one of this process's own. */
export function heardBy(self: string, text: string): Wakeup | null {
  const message = parse(text);
  return message === null || message.from === self ? null : message;
}

function parse(text: string): Message | null {
  try {
    const message = JSON.parse(text) as Partial<Message> | null;
    const { from, queues, finished, added, lot } = message ?? {};
    const isMessage = typeof from === "string" && isTexts(queues) && isTexts(finished);
    if (!isMessage) return null;
    const isCounted = typeof added === "number" && typeof lot === "number";
    return { from, queues, finished, ...(isCounted && { added, lot }) };
  } catch {
    return null;
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
