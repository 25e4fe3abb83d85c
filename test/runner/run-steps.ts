/** Runs commands one after another, says how long each took, and stops at the first that fails. */
import { spawn } from "node:child_process";
import { once } from "node:events";

export interface Step {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Answers the exit code: 0, or that of the step that failed. What the steps print goes through. */
export async function runSteps(
  steps: readonly Step[],
  say: (line: string) => void,
): Promise<number> {
  const summary: string[] = [];
  let failed = 0;
  for (const [index, step] of steps.entries()) {
    if (failed !== 0) {
      summary.push(`not run ${step.name}`);
      continue;
    }
    say(`\n== ${index + 1} of ${steps.length}: ${step.name}`);
    const beganAt = performance.now();
    failed = await run(step);
    const took = `${((performance.now() - beganAt) / 1_000).toFixed(0)} s`;
    summary.push(
      failed === 0
        ? `ok      ${step.name} (${took})`
        : `FAILED  ${step.name} (exit ${failed}, ${took})`,
    );
  }
  say("\n== summary");
  for (const line of summary) say(line);
  return failed;
}

async function run({ command, args, env }: Step): Promise<number> {
  const stdio = ["ignore", "inherit", "inherit"] as const;
  try {
    const child = spawn(command, args, { stdio: [...stdio], env: { ...process.env, ...env } });
    const [code] = (await once(child, "exit")) as [number | null];
    // Ended by a signal: it has no code, and did not succeed.
    return code ?? 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
}
