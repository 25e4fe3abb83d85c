import { defineConfig } from "vitest/config";
import { SkipReporter } from "./test/runner/skip-reporter.ts";
import { SlowFilesLast } from "./test/runner/slow-files-last.ts";
import { SlowFilesReporter } from "./test/runner/slow-files-reporter.ts";

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
    // Processes, not threads: a test that ends its process must not take the others along.
    pool: "forks",
    // One per core, on two cores too, where the default would be one.
    maxWorkers: "100%",
    sequence: { sequencer: SlowFilesLast },
    reporters: ["default", new SkipReporter(), new SlowFilesReporter()],
  },
});
