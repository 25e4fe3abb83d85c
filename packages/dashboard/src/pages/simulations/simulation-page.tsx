/** One simulation: does it keep to its plan, where is it, what holds it back, and what can be turned. */
import { addressOf, api } from "../../api/client.ts";
import type { Simulation, SimulationMetrics } from "../../api/simulations.ts";
import { Bar } from "../../components/bar.tsx";
import { CopyButtons } from "../../components/copy-buttons.tsx";
import { Panel } from "../../components/panel.tsx";
import { Content } from "../../components/states.tsx";
import { Time } from "../../components/texts.tsx";
import { href } from "../../state/router.ts";
import { useLoad, type Loaded } from "../../state/use-load.ts";
import { cliText, curlText } from "../../text/copy-as.ts";
import { count, plural } from "../../text/numbers.ts";
import { duration } from "../../text/times.ts";
import { Budgets } from "./budgets.tsx";
import { CurveChart } from "./curve-chart.tsx";
import { DeadPanel } from "./dead-panel.tsx";
import { KnobsPanel } from "./knobs-panel.tsx";
import { SegmentsPanel } from "./segments-panel.tsx";
import { SimulationGates } from "./simulation-gates.tsx";
import { SimulationTag } from "./simulation-tag.tsx";
import { Steering } from "./steering.tsx";

export function SimulationPage({ id }: { id: string }) {
  const sim = useLoad(`sim ${id}`, (signal) => api.simulations.get(id, signal), 2_000);
  const metrics = useLoad(
    `metrics of ${id}`,
    (signal) => api.simulations.metrics(id, signal),
    2_000,
  );
  const config = useLoad(`config of ${id}`, (signal) => api.simulations.config(id, signal), 5_000);
  return (
    <Content of={sim}>
      {(found) => (
        <div class="stack">
          <div class="say">
            <h1>{id}</h1>
            <SimulationTag status={found.status} />
            <p class="soft">{planWords(found)}</p>
            <span class="sp" />
            <Steering simulation={found} reload={sim.reload} />
          </div>
          <WhyNot simulation={found} />
          <CurveChart simulation={found} />
          <div class="split">
            <div class="stack">
              <SegmentsPanel simulation={found} />
              <DeadPanel simulation={found} />
            </div>
            <div class="stack">
              <HowFar simulation={found} metrics={metrics} />
              <Budgets of={metrics} />
              <SimulationGates />
            </div>
          </div>
          <KnobsPanel id={id} of={config} />
          <CopyButtons
            cli={cliText(["sim", "show", id])}
            curl={curlText(addressOf(`/api/simulations/${encodeURIComponent(id)}`))}
          />
        </div>
      )}
    </Content>
  );
}

function planWords({ records, distribution, segments, segmentMs, start, end }: Simulation): string {
  const lasts = duration(Date.parse(end) - Date.parse(start));
  return `${plural(records, "record")} in ${lasts}, ${distribution.shape}, in ${plural(segments, "segment")} of ${duration(segmentMs)}`;
}

const STANDING: Readonly<Partial<Record<Simulation["status"], string>>> = {
  created: "It was not started yet. Nothing is due before that.",
  paused: "It was paused. What runs goes on, nothing else begins; due times stay as they are.",
  aborted: "It was aborted, for good. What waited was cancelled.",
};

function WhyNot({ simulation: { status, reason } }: { simulation: Simulation }) {
  const words = STANDING[status];
  if (words === undefined) return null;
  return (
    <div class={`why${status === "created" ? " calm" : ""}`}>
      <b>Why does nothing begin?</b>
      <div class="any">
        {words}
        {reason !== null && reason !== "" && ` Its reason: “${reason}”.`}
      </div>
    </div>
  );
}

interface HowFarProps {
  readonly simulation: Simulation;
  readonly metrics: Loaded<SimulationMetrics>;
}

function HowFar({ simulation, metrics }: HowFarProps) {
  const { start, end, startedAt, endedAt, queue } = simulation;
  return (
    <Panel title="How far is it?" isPadded>
      <Content of={metrics}>
        {({ records_total: of, records_processed: done, segments, counters, thinning }) => {
          const failed = counters["records_failed"] ?? 0;
          const thinned = thinning.reduce((sum, one) => sum + one.before - one.after, 0);
          return (
            <div class="form">
              <Bar
                label={`${done} of ${of} records`}
                of={of}
                parts={[
                  { tone: "ok", value: Math.max(0, done - failed) },
                  { tone: "bad", value: failed },
                ]}
              />
              <dl class="facts">
                <dt>Records</dt>
                <dd>
                  {count(done)} of {count(of)}
                  {failed > 0 && `, ${count(failed)} failed`}
                </dd>
                <dt>Segments</dt>
                <dd>
                  {count(segments.complete)} complete, {count(segments.open.length)} open, of{" "}
                  {count(segments.total)}
                </dd>
                {thinned > 0 && (
                  <>
                    <dt>Thinned</dt>
                    <dd>{plural(thinned, "activity", "activities")} left out under pressure</dd>
                  </>
                )}
                <dt>Begins</dt>
                <dd>
                  <Time at={start} />
                </dd>
                <dt>Ends</dt>
                <dd>
                  <Time at={end} />
                </dd>
                <dt>Started</dt>
                <dd>
                  <Time at={startedAt} />
                </dd>
                {endedAt !== null && (
                  <>
                    <dt>Ended</dt>
                    <dd>
                      <Time at={endedAt} />
                    </dd>
                  </>
                )}
                <dt>Queue</dt>
                <dd>
                  <a href={href(["queues", queue])}>{queue}</a>
                </dd>
              </dl>
            </div>
          );
        }}
      </Content>
    </Panel>
  );
}
