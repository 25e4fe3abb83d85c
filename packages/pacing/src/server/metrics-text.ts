/** What simulations add to `/metrics`: those that run, at most 50 of them. */
import { exposition, type Family, type Sample } from "@holdfast/server";
import type { Pacing } from "../pacing.ts";

const MOST = 50;

export async function metricsText(pacing: Pacing): Promise<string> {
  const running = await runningOf(pacing);
  const shown = running.slice(0, MOST);
  const all = await Promise.all(shown.map((id) => pacing.metrics(id)));
  const of = (pick: (one: (typeof all)[number]) => readonly Sample[]) => all.flatMap(pick);
  return exposition([
    gauge("holdfast_simulations_running", "Simulations that run.", [{ value: running.length }]),
    gauge(
      "holdfast_simulation_records",
      "Records of running simulations, planned and processed.",
      of(({ id, records_total, records_processed }) => [
        { labels: { simulation: id, state: "planned" }, value: records_total },
        { labels: { simulation: id, state: "processed" }, value: records_processed },
      ]),
    ),
    gauge(
      "holdfast_simulation_counters",
      "What running simulations have done, by the names of their counters.",
      of(({ id, counters }) =>
        Object.entries(counters).map(([name, value]) => ({
          ...{ labels: { simulation: id, counter: name }, value },
        })),
      ),
    ),
    gauge(
      "holdfast_simulation_segments",
      "Segments of running simulations.",
      of(({ id, segments: { total, expanded, complete } }) =>
        Object.entries({ total, expanded, complete }).map(([state, value]) => ({
          ...{ labels: { simulation: id, state }, value },
        })),
      ),
    ),
    gauge(
      "holdfast_simulation_budget_left",
      "What is left of the budgets of running simulations.",
      of(({ id, budgets }) =>
        Object.entries(budgets).flatMap(([type, { left }]) =>
          left === null ? [] : [{ labels: { simulation: id, type }, value: left }],
        ),
      ),
    ),
    gauge(
      "holdfast_simulation_thinned",
      "Activities before and after thinning, of what was thinned lately.",
      of(({ id, thinning }) =>
        (["before", "after"] as const).map((when) => ({
          labels: { simulation: id, when },
          value: thinning.reduce((sum, event) => sum + event[when], 0),
        })),
      ),
    ),
  ]);
}

/** Ids. Those that have ended are kept, and may fill whole pages before one that runs. */
async function runningOf(pacing: Pacing): Promise<string[]> {
  const running: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Pacing["list"]>> = await pacing.list({
      ...{ status: "running", limit: 200, cursor },
    });
    running.push(...page.simulations.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return running;
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: "gauge", samples };
}
