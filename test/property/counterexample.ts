/** A counterexample for people: what was done, what came of it, and how to see it again. */
import { inspect } from "node:util";
import type { Operation } from "./operation.ts";
import { shortId } from "./small-world.ts";

export interface Counterexample {
  readonly claim: string;
  /** The operations in their order, each with who does it. */
  readonly steps: readonly (readonly [who: string, operation: Operation])[];
  readonly trouble: unknown;
  readonly runs: number;
  readonly seed: number;
  readonly command: string;
}

export function describeCounterexample(of: Counterexample): string {
  const { claim, steps, trouble, runs, seed, command } = of;
  const lines = steps.map(([who, operation], index) => {
    const { verb, ...parts } = operation;
    // In a patch, null and absent are two things.
    const told = verb === "limit" || verb === "hold" ? parts : brief(parts);
    const said = inspect(told, { depth: 8, breakLength: 110, compact: 3 });
    return `  ${index + 1}. ${who}: ${verb} ${said === "{}" ? "" : said.replaceAll("\n", "\n     ")}`;
  });
  const why = trouble instanceof Error ? trouble.message : String(trouble);
  return [
    `This is not so: ${claim}. After`,
    ...lines.map((line) => line.trimEnd()),
    why,
    `Seen in run ${runs} of seed ${seed}. To see it again:`,
    `  HOLDFAST_PROPERTY_SEED=${seed} HOLDFAST_PROPERTY_RUNS=${runs} ${command}`,
  ].join("\n");
}

/** Without everything that says nothing: null, false, and what is empty. */
function brief(value: unknown): unknown {
  if (typeof value === "string") return shortId(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(brief);
  const parts = Object.entries(value).filter(([, part]) => saysSomething(part));
  return Object.fromEntries(parts.map(([name, part]) => [name, brief(part)]));
}

function saysSomething(part: unknown): boolean {
  if (Array.isArray(part)) return part.length > 0;
  return part !== null && part !== false && part !== "";
}
