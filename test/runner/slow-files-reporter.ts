import { relative } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";
import { slowest } from "./slow-files.ts";

const SHOWN = 10;

/** Prints where the time went, at the end of every run of several files. */
export class SlowFilesReporter implements Reporter {
  #root = "";

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length < 2) return;
    const files = modules.map((module) => {
      // To read a file, and all that it imports, is its own time too.
      const { duration, collectDuration } = module.diagnostic();
      return { file: relative(this.#root, module.moduleId), ms: duration + collectDuration };
    });
    console.log(`\nthe slowest of ${files.length} files:`);
    for (const line of slowest(files, SHOWN)) console.log(line);
  }
}
