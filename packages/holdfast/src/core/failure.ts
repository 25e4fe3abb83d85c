/** What is recorded of a failed attempt: cleaned and cut, so that every store accepts it. */
import { errorChain, read, readText } from "./error-chain.ts";
import type { ErrorCategory, Failure } from "./job.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { cleanText, show } from "./text.ts";

export const MAX_MESSAGE_CHARS = 2000;
export const MAX_STACK_CHARS = 4000;
const MAX_CAUSE_CHARS = 300;
const MAX_CAUSES = 3;

export function describeFailure(
  error: unknown,
  options: { readonly type: string; readonly category: ErrorCategory },
): Failure {
  const { type, category } = options;
  const message = cleanText(messageOf(error), MAX_MESSAGE_CHARS) || "no message";
  const stack = readText(error, "stack");
  return {
    category,
    message,
    stack: stack === "" ? null : cleanText(stack, MAX_STACK_CHARS),
    fingerprint: fingerprintOf({ type, category, name: readText(error, "name"), message, stack }),
  };
}

function messageOf(error: unknown): string {
  const [, ...causes] = errorChain(error);
  let message = sentence(error).slice(0, MAX_MESSAGE_CHARS);
  for (const cause of causes.slice(0, MAX_CAUSES)) {
    const words = cleanText(sentence(cause), MAX_CAUSE_CHARS);
    // Wrappers like to repeat what they wrap.
    if (!message.includes(words)) message += `: caused by ${words}`;
  }
  return message;
}

/** What one thrown value says: its message, its name if it has no words, or what it is. */
function sentence(thrown: unknown): string {
  if (typeof thrown === "string") return thrown === "" ? "threw an empty string" : thrown;
  if (typeof thrown !== "object" || thrown === null) return `threw ${show(thrown)}`;
  return readText(thrown, "message") || readText(thrown, "name") || `threw ${objectWords(thrown)}`;
}

function objectWords(thrown: object): string {
  const name = readText(read(thrown, "constructor"), "name") || "Object";
  try {
    return `${name} ${cleanText(JSON.stringify(thrown), 200)}`;
  } catch {
    return name;
  }
}
