/** An answer without what stores may word as they like: handles, cursors, the numbers of fences. */
import type { Ranks } from "./ranks.ts";
import { shortId } from "./small-world.ts";

export function shown(answer: unknown, ranks: Ranks): unknown {
  return show(answer, { ranks, id: "", key: "" });
}

interface Context {
  readonly ranks: Ranks;
  /** Whose fences these are. */
  readonly id: string;
  /** Whose versions these are. */
  readonly key: string;
}

function show(value: unknown, context: Context): unknown {
  if (typeof value === "string") return shortId(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => show(item, context));
  const parts = value as Readonly<Record<string, unknown>>;
  const { id, key } = parts;
  const inside = {
    ranks: context.ranks,
    id: typeof id === "string" ? id : context.id,
    key: typeof key === "string" ? key : context.key,
  };
  const entries = Object.entries(parts)
    .filter(([name]) => name !== "handle" && name !== "nextCursor")
    .map(([name, part]) => [name, showPart(name, part, inside)]);
  return Object.fromEntries(entries);
}

function showPart(name: string, part: unknown, context: Context): unknown {
  if (typeof part !== "number") return show(part, context);
  if (name === "fence") return context.ranks.rank(`fence of ${shortId(context.id)}`, part);
  if (name === "version") return context.ranks.rank(`version of ${context.key}`, part);
  return part;
}
