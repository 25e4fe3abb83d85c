import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { FailedReporter } from "./test/runner/failed-reporter.ts";
import { SkipReporter } from "./test/runner/skip-reporter.ts";
import { SlowFilesLast } from "./test/runner/slow-files-last.ts";
import { SlowFilesReporter } from "./test/runner/slow-files-reporter.ts";
import { SystemsReporter } from "./test/runner/systems-reporter.ts";

/** Packages find each other's sources: nothing is built before a test. */
const conditions = ["@holdfast/source", "node"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: "test/servers/global-setup.ts",
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // A second is little on a machine that runs three files at once.
    expect: { poll: { timeout: 10_000 } },
    // A machine that stands still for ten seconds breaks promises that are kept within ten. Before a change goes in,
    // a failed test gets one more try, and is named at the end; whoever works on it gets none.
    retry: process.env["CI"] === "true" ? 1 : 0,
    // Processes, not threads: a test that ends its process must not take the others along.
    pool: "forks",
    // One more than there are cores: many tests wait for leases, servers and processes.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: SlowFilesLast },
    reporters: [
      ...["default", new SkipReporter(), new SlowFilesReporter()],
      ...[new SystemsReporter(), new FailedReporter()],
    ],
  },
});
