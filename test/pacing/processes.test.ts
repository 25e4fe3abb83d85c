/**
 * A simulation of 500 records in a minute of real time, by processes that are killed, against a HubSpot that answers
 * 429 and 500 in bursts. Full tier: one for each store.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as pause } from "node:timers/promises";
import { hubspotDouble, type HubSpotDouble } from "@holdfast/crm/double";
import { Pacing, recordKey } from "@holdfast/pacing";
import { Holdfast } from "holdfast";
import { expect, it } from "vitest";
import { onlyInFull } from "../runner/tier.ts";
import { makePaced, openPaced, PACED } from "./paced-places.ts";
import type { PacedWorker } from "./paced-worker.ts";

const PROGRAM = fileURLToPath(new URL("paced-worker.ts", import.meta.url));
const RECORDS = 500;
const MINUTE = 60_000;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

async function start(options: PacedWorker): Promise<ChildProcess> {
  const child = fork(PROGRAM, [JSON.stringify(options)], {
    execArgv: ["--conditions", "@holdfast/source"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [said] = (await Promise.race([once(child, "message"), once(child, "exit")])) as unknown[];
  if (said !== "up") throw new Error("a worker ended before it was up");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** Bursts of trouble, of which some come after the work was done. */
function trouble(double: HubSpotDouble): void {
  double.faults.add(
    { kind: "rate_limit", retryAfterS: 1, times: 3 },
    { kind: "status", status: 500, when: "after", times: 4, after: 10 },
    { kind: "status", status: 500, times: 4, after: 5 },
    { kind: "reset", when: "after", times: 2, after: 5 },
  );
}

it.for(PACED)(
  "500 records on %s are there once each, with workers killed and the other side in trouble",
  { timeout: 8 * MINUTE },
  async (name, test) => {
    onlyInFull(test);
    const folder = await mkdtemp(join(tmpdir(), "holdfast-paced-"));
    const { place, drop } = await makePaced(name, folder);
    const double = await hubspotDouble({ limits: { max: 100_000, daily: 10_000_000 } });
    const hf = new Holdfast({ store: await openPaced(place), logger: quiet }) as Holdfast;
    // Who starts it sets the gate for the fleet. Half a minute, the default, would be half of the simulation.
    const outbound = { breaker: { failures: 10, withinMs: 5_000, openMs: 500 } };
    const pacing = new Pacing(hf, { shards: 2, outbound });
    const worker: PacedWorker = { place, baseUrl: double.url, token: double.token, shards: 2 };
    const children = await Promise.all([start(worker), start(worker), start(worker)]);
    try {
      await pacing.create({
        ...{ id: "real", records: RECORDS, durationMs: MINUTE, segmentMs: 10_000 },
        distribution: { shape: "bell" },
        scenario: {
          probabilities: { note: 0.6, call: 0.3, task: 0.3, ticket: 0.1 },
          caps: { note: 3 },
          budgets: { note: 150, task: 60 },
          delaysMs: { note: [0, 3_000], call: [0, 3_000], task: [0, 3_000], ticket: [0, 3_000] },
        },
      });
      await pacing.start("real");
      for (let turn = 0; turn < 6; turn += 1) {
        await pause(6_000);
        trouble(double);
        const at = turn % children.length;
        await kill(children[at]!);
        children[at] = await start(worker);
      }
      double.faults.clear();
      const until = Date.now() + 4 * MINUTE;
      while ((await pacing.get("real"))?.status !== "completed") {
        if (Date.now() > until) throw new Error(JSON.stringify(await pacing.metrics("real")));
        await pause(500);
      }
      const { counters, segments, budgets } = await pacing.metrics("real");
      const there = double.objects("contacts").map(({ properties }) => String(properties["email"]));
      expect(new Set(there).size).toBe(there.length);
      const of = (kind: string) => there.filter((email) => email.endsWith(`@${kind}.test`));
      const wanted = Array.from(
        { length: RECORDS },
        (_, at) => `${recordKey("real", at)}@records.test`,
      );
      expect(of("records").toSorted()).toEqual(wanted.toSorted());
      expect(counters).toMatchObject({ records_created: RECORDS, records_failed: 0 });
      for (const type of ["note", "call", "task", "ticket"] as const) {
        expect(of(`${type}s`)).toHaveLength(counters[`${type}s_executed`]!);
        expect(counters[`${type}s_executed`]).toBe(counters[`${type}s_scheduled`]);
      }
      expect(budgets.note).toEqual({ limit: 150, reserved: 150, spent: 150, left: 0 });
      expect(budgets.task.spent).toBeLessThanOrEqual(60);
      expect(segments).toEqual({ total: 6, expanded: 6, open: [], complete: 6 });
      expect((await hf.jobs({ status: "dead" })).jobs).toEqual([]);
      const primaries = await hf.jobs({
        type: "simulation.record",
        status: "succeeded",
        limit: 200,
      });
      expect(primaries.jobs.every(({ queue }) => queue.startsWith("simulation-jobs:"))).toBe(true);
    } finally {
      await Promise.all(children.map(kill));
      await hf.close();
      await double.close();
      await drop();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  },
);
