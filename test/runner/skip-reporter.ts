import type { Reporter, TestModule, Vitest } from "vitest/node";

/**
 * Nothing is left out in silence: every skipped test is named at the end with its reason, and one
 * without a reason fails the run. Give it with `context.skip("no server was found")`.
 */
export class SkipReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // With -t everything else counts as skipped, which somebody asked for.
    if (this.#vitest?.config.testNamePattern !== undefined) return;
    for (const module of modules) {
      // Tests behind a failed beforeAll count as skipped too; that failure speaks for itself.
      if (module.state() === "failed") continue;
      for (const test of module.children.allTests("skipped")) {
        const result = test.result();
        const reason = result.state === "skipped" ? result.note : undefined;
        console.log(`not run: ${test.fullName}: ${reason ?? "no reason was given"}`);
        if (reason === undefined) process.exitCode = 1;
      }
    }
  }
}
