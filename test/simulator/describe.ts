/** How things are called in the trace: short, and the same in every run of a seed. */
import type { Trace } from "./trace.ts";

export interface Describe {
  readonly trace: Trace;
  /** Seconds since the beginning. */
  now(): string;
  fence(fence: number): string;
}

/** A line in the trace: who did what, and what came of it for each job. */
export function describeCall(
  { trace, now }: Describe,
  process: string,
): (what: string, jobs: readonly (readonly [id: string, result: string])[]) => void {
  return (what, jobs) => {
    const names = jobs.map(([id]) => trace.name(id));
    const results = jobs.map(([, result], at) => `${names[at]} ${result}`).join(", ");
    // A call that concerned no job is not worth a line in any job's story.
    trace.note(
      `${now()} ${process} ${what}${results && ": "}${results}`,
      jobs.length ? names : [""],
    );
  };
}
