/** Planned against actual, in parts of whole segments. */
import { useMemo } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { Curve, Simulation } from "../../api/simulations.ts";
import { Chart, type ChartSeries } from "../../components/chart.tsx";
import { Content } from "../../components/states.tsx";
import { useNow } from "../../state/clock.ts";
import { useLoad } from "../../state/use-load.ts";
import { count, plural } from "../../text/numbers.ts";

const PARTS = 60;

export function CurveChart({ simulation }: { simulation: Simulation }) {
  const { id } = simulation;
  const curve = useLoad(
    `curve of ${id}`,
    (signal) => api.simulations.curve(id, PARTS, signal),
    5_000,
  );
  return <Content of={curve}>{(found) => <Drawn simulation={simulation} curve={found} />}</Content>;
}

function Drawn({ simulation, curve }: { simulation: Simulation; curve: Curve }) {
  const { start, segments, segmentMs } = simulation;
  const size = Math.max(1, Math.ceil(segments / PARTS));
  // A part that is not over has no number to hold against its plan yet: the line would fall for no reason. Only the
  // first one is shown as it fills.
  const over = Math.max(1, Math.floor((useNow() - Date.parse(start)) / (size * segmentMs)));
  const { at, series } = useMemo(() => {
    const times = curve.planned.map((_, place) => Date.parse(start) + place * size * segmentMs);
    const drawn: ChartSeries[] = [
      { name: "planned", tone: "c1", isDashed: true, values: curve.planned },
      {
        ...{ name: "actual", tone: "c2" },
        values: curve.actual.map((value, place) => (place < over ? value : null)),
      },
    ];
    return { at: times, series: drawn };
  }, [curve, start, size, segmentMs, over]);
  return (
    <Chart
      title="Does it keep to its plan?"
      unit={`records ${size === 1 ? "each segment" : `each ${plural(size, "segment")}`}`}
      at={at}
      series={series}
      format={count}
      empty="It has no records."
    />
  );
}
