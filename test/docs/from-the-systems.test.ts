/** What people have from the five systems, endpoints and variables, is named in the reference and is there. */
import { readFile } from "node:fs/promises";
import { allRoutes } from "@holdfast/server";
import { classic } from "@holdfast/server/classic";
import { SETTING_NAMES, SETTINGS } from "holdfast/env";
import { beforeAll, describe, expect, it } from "vitest";

/** As their own texts have them. */
const SAME = [
  ...["GET /api/admin/queue/health", "GET /api/admin/queue/failures"],
  ...["POST /api/admin/queue/retry", "POST /api/admin/queue/prune"],
  ...["POST /queue/enqueue", "GET /queue/:id", "GET /queue"],
  ...["GET /api/health", "GET /api/dlq/summary", "GET /metrics"],
  ...["GET /api/v1/queue/:id", "GET /api/v1/queue", "GET /api/v1/queue/dead-letter"],
];
/** With the package that brings them. */
const COMING = {
  "@holdfast/pacing": [
    ...["GET /api/simulations/:id/metrics", "GET /api/simulations/:id/metrics2"],
    ...["GET /api/simulations/:id/segments", "GET /api/simulations/:id/dlq"],
    "POST /api/simulations/:id/dlq/replay",
  ],
  "@holdfast/imports": ["POST /api/v1/imports/xlsx", "POST /api/v1/imports/xlsx/upload"],
};
const READ = [
  ...["WORKER_QUEUE_NAME", "WORKER_CONCURRENCY", "QUEUE_RESILIENT_MODE", "JOB_DLQ_RETENTION_DAYS"],
  ...["JOB_FAILURE_SPIKE_THRESHOLD", "JOB_LOCK_STALE_MINUTES", "QUEUE_POLL_MS"],
  ...["QUEUE_MAX_ATTEMPTS", "QUEUE_STUCK_THRESHOLD_MS", "QUEUE_CONCURRENCY"],
  ...["QUEUE_VISIBILITY_MS", "QUEUE_HEARTBEAT_MS", "SIMCRM_SHARD_INDEX"],
];
const NOT_READ = ["DATABASE_URL", "SIMCRM_QUEUE_SHARDS"];

describe("the reference", () => {
  let rows: readonly string[];
  beforeAll(async () => {
    const page = await readFile(new URL("../../docs/reference/http.md", import.meta.url), "utf8");
    const [, foreign = ""] = page.split("## Endpoints and names of the five systems");
    rows = foreign.split("\n").filter((line) => line.startsWith("|"));
  });
  const rowOf = (name: string) =>
    rows.find((row) => row.includes(`\`${name}\``) || row.includes(`\`${name}?`)) ?? "";

  it.each(SAME)("%s is named as the same, and is answered", (endpoint) => {
    expect(rowOf(endpoint)).toContain("the same");
    const routes = allRoutes([classic()]).map(({ method, path }) => `${method} ${path}`);
    expect(routes).toContain(endpoint);
  });

  it.each(Object.entries(COMING))("what comes with %s is named so", (name, endpoints) => {
    for (const endpoint of endpoints) expect(rowOf(endpoint)).toContain(name);
  });

  it.each(READ)("%s is named with our own variable, and both set the same thing", (variable) => {
    const setting = SETTING_NAMES.map((name) => SETTINGS[name].env as readonly string[]).find(
      (names) => names.includes(variable),
    );
    const [ours = "none"] = setting ?? [];
    expect(rowOf(variable)).toContain(`\`${ours}\``);
  });

  it.each(NOT_READ)("%s is named as one that sets nothing", (variable) => {
    expect(rowOf(variable)).toContain("nothing");
    expect(SETTING_NAMES.flatMap((name): readonly string[] => SETTINGS[name].env)).not.toContain(
      variable,
    );
  });
});
