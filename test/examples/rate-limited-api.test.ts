/** The example of a service that answers 429 and 503 in bursts: nothing dies, nothing is hammered. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const main = fileURLToPath(new URL("../../examples/rate-limited-api/main.ts", import.meta.url));

it(
  "a gate keeps 120 jobs alive through a rate limit and an outage",
  { timeout: 60_000 },
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [main]);
    const number = (of: RegExp) => Number(of.exec(stdout)?.[1]);
    expect(stdout).toMatch(/succeeded: 120 of 120, dead: 0/);
    expect(stdout).toMatch(/the breaker opened: true/);
    // Without the breaker it is every retry of every job: hundreds.
    expect(number(/503: (\d+)/)).toBeLessThan(40);
    expect(number(/most calls in a second: (\d+)/)).toBeLessThanOrEqual(25);
  },
);
