/** How fast do jobs finish, how long do they wait, how long do they run? */
import { useMemo } from "preact/hooks";
import type { Stats } from "../../api/types.ts";
import { Chart, type ChartSeries } from "../../components/chart.tsx";
import { rate } from "../../text/numbers.ts";
import { duration } from "../../text/times.ts";

const QUANTILES = ["p50", "p95", "p99"] as const;
const TONES = ["c1", "c2", "c3"] as const;

export function Charts({ stats }: { stats: Stats }) {
  const { at, perSecond, wait, run } = useMemo(() => seriesOf(stats), [stats]);
  const isHours = stats.series.length > 1 && (at[1] ?? 0) - (at[0] ?? 0) > 60_000;
  const each = isHours ? "each hour" : "each minute";
  return (
    <div class="stack">
      <Chart
        title="How many jobs finish?"
        unit={`a second, ${each}`}
        at={at}
        series={perSecond}
        isStacked
        format={rate}
        empty="Workers finished no job. What waits is in the table below."
      />
      <div class="two">
        <Chart
          title="How long do jobs wait to start?"
          unit="log scale"
          at={at}
          series={wait}
          isLog
          format={duration}
          empty="No job started."
        />
        <Chart
          title="How long do they run?"
          unit="log scale"
          at={at}
          series={run}
          isLog
          format={duration}
          empty="No job ran."
        />
      </div>
    </div>
  );
}

function seriesOf({ series }: Stats) {
  const at = series.map((point) => Date.parse(point.at));
  const step = at.length > 1 ? (at[1] ?? 0) - (at[0] ?? 0) : 60_000;
  // The newest bucket is not over: it is shown by the time that it has had.
  const now = Date.now();
  const seconds = at.map((time) => Math.min(step, Math.max(1_000, now - time)) / 1_000);
  const per = (pick: (point: Stats["series"][number]) => number) =>
    series.map((point, place) => pick(point) / (seconds[place] ?? 60));
  const perSecond: ChartSeries[] = [
    { name: "succeeded", tone: "ok", values: per(({ succeeded }) => succeeded) },
    { name: "failed, retrying", tone: "warn", values: per(({ retried }) => retried) },
    { name: "dead", tone: "bad", values: per(({ dead }) => dead) },
  ];
  const durations = (what: "waitMs" | "runMs"): ChartSeries[] =>
    QUANTILES.map((name, place) => ({
      ...{ name, tone: TONES[place] ?? "c1", isDashed: name === "p99" },
      values: series.map((point) =>
        point[what].count === 0 ? null : Math.max(point[what][name], 0.1),
      ),
    }));
  return { at, perSecond, wait: durations("waitMs"), run: durations("runMs") };
}
