import type { Reporter, TestModule, TestSpecification, Vitest } from "vitest/node";
import { FULL_STEPS } from "./full-steps.ts";
import { isWholeRun } from "./is-whole-run.ts";
import { notRun, TIER } from "./tier.ts";

/**
 * Nothing is left out in silence: every skipped test is named at the end with its reason, and one
 * without a reason fails the run. Give it with `context.skip("no server was found")`, or with
 * `onlyInFull(context)`. After a whole run of the daily tier, so are the commands of the full one.
 */
export class SkipReporter implements Reporter {
  #vitest: Vitest | undefined;
  #isWhole = false;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunStart(files: readonly TestSpecification[]): Promise<void> {
    this.#isWhole = await isWholeRun(this.#vitest, files);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // With -t everything else counts as skipped, which somebody asked for.
    if (this.#vitest?.config.testNamePattern !== undefined) return;
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        const result = test.result();
        const reason = result.state === "skipped" ? result.note : undefined;
        // Tests behind a failed beforeAll count as skipped too; that failure speaks for itself.
        if (reason === undefined && module.state() === "failed") continue;
        console.log(notRun(test.fullName, reason ?? "no reason was given"));
        if (reason === undefined) process.exitCode = 1;
      }
    }
    if (TIER === "full" || !this.#isWhole) return;
    for (const { name } of FULL_STEPS) console.log(notRun(name));
  }
}
