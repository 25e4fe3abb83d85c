import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Reporter, TestModule, TestSpecification, Vitest } from "vitest/node";
import { outlineIds } from "../docs/systems/outline.ts";
import { addRan, type RanFile } from "../docs/systems/ran-tests.ts";
import { idFaults, readSystems, testFaults } from "../docs/systems/systems-page.ts";
import { isWholeRun } from "./is-whole-run.ts";
import { TIER } from "./tier.ts";

const SHOWN = 20;

/**
 * Holds `docs/systems.md` against what ran: a test that it names and that did not pass fails the run. After some files
 * only the lines about those files are judged.
 */
export class SystemsReporter implements Reporter {
  #vitest: Vitest | undefined;
  #isWhole = false;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunStart(files: readonly TestSpecification[]): Promise<void> {
    this.#isWhole = await isWholeRun(this.#vitest, files);
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const { root, testNamePattern } = this.#vitest!.config;
    // With -t most of a file does not run, which somebody asked for.
    if (testNamePattern !== undefined) return;
    const at = new Date().toISOString();
    const ran = new Map<string, RanFile>();
    for (const module of modules) {
      const names = (state: "passed" | "skipped") =>
        [...module.children.allTests(state)].map(({ fullName }) => fullName);
      const file = { passed: names("passed"), skipped: names("skipped"), tier: TIER, at };
      ran.set(relative(root, module.moduleId), file);
    }
    await addRan(root, ran);
    const lines = readSystems(await readFile(join(root, "docs/systems.md"), "utf8"));
    const how = { isWhole: this.#isWhole, isFull: TIER === "full" };
    const { faults, waiting } = testFaults(lines, ran, how);
    const all = [...(this.#isWhole ? idFaults(lines, outlineIds()) : []), ...faults];
    if (this.#isWhole) {
      const open = lines.filter(({ isShown }) => !isShown).length;
      console.log(
        `\ndocs/systems.md: ${lines.length} lines, ${open} not shown yet, ` +
          `${waiting.length} tests wait for the full tier`,
      );
    }
    if (all.length === 0) return;
    process.exitCode = 1;
    console.log(`\ndocs/systems.md is not true (${all.length}):`);
    for (const fault of all.slice(0, SHOWN)) console.log(`  ${fault}`);
  }
}
