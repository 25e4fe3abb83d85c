import { relative } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";

const SHOWN = 10;

/**
 * Names the failed tests once more at the very end, where the tail of a long log still shows them, and those that
 * passed only when they were tried again (`retry` in `vitest.config.ts`): each of them is a question.
 */
export class FailedReporter implements Reporter {
  #root = "";

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly { message?: unknown }[]): void {
    const lines: string[] = [];
    const again: string[] = [];
    for (const module of modules) {
      const file = relative(this.#root, module.moduleId);
      for (const test of module.children.allTests("passed")) {
        if (test.diagnostic()?.flaky !== true) continue;
        again.push(`${file} › ${test.fullName}: ${firstLine(test.result().errors?.[0])}`);
      }
      for (const error of module.errors()) lines.push(`${file}: ${firstLine(error)}`);
      for (const test of module.children.allTests("failed")) {
        const [error] = test.result().errors ?? [];
        lines.push(`${file} › ${test.fullName}: ${firstLine(error)}`);
      }
    }
    for (const error of errors) lines.push(`outside of any test: ${firstLine(error)}`);
    list("passed only when tried again", again);
    list("failed", lines);
  }
}

function list(title: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  console.log(`\n${title} (${lines.length}):`);
  for (const line of lines.slice(0, SHOWN)) console.log(`  ${line}`);
}

function firstLine(error: { message?: unknown } | undefined): string {
  return String(error?.message ?? "no message").split("\n", 1)[0] ?? "";
}
