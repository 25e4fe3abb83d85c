/**
 * Numbers over time. The charts of a page share one crosshair; what stands under it is told in words, and can be
 * reached by the arrow keys. The same numbers are there as a table.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useCell } from "../state/cell.ts";
import { theme } from "../state/theme.ts";
import { durationMarks } from "../text/duration-marks.ts";
import { clockTime, moment } from "../text/times.ts";
import { faded, resolvedColor } from "./chart-colors.ts";
import { Panel } from "./panel.tsx";
import { Table } from "./table.tsx";
import { Empty } from "./states.tsx";

export interface ChartSeries {
  readonly name: string;
  /** Of its line in the legend, and of its colour: `--ok` for `ok`. */
  readonly tone: "ok" | "warn" | "bad" | "wait" | "c1" | "c2" | "c3";
  readonly values: readonly (number | null)[];
  readonly isDashed?: boolean;
}

interface ChartProps {
  /** A question, or what answers it. */
  readonly title: string;
  readonly unit: string;
  /** Milliseconds since 1970, oldest first. */
  readonly at: readonly number[];
  readonly series: readonly ChartSeries[];
  /** Each on top of the ones before it. */
  readonly isStacked?: boolean;
  /** Durations, from milliseconds to days on one axis. */
  readonly isLog?: boolean;
  readonly format: (value: number) => string;
  readonly empty: string;
}

const HIGH = 160;
const COLORS: Readonly<Record<ChartSeries["tone"], string>> = {
  ...{ ok: "--ok", warn: "--warn", bad: "--bad", wait: "--wait" },
  ...{ c1: "--chart-1", c2: "--chart-2", c3: "--chart-3" },
};

export function Chart(props: ChartProps) {
  const { title, unit, at, series, format, empty } = props;
  const [isTable, setTable] = useState(false);
  const [shown, setShown] = useState<number | null>(null);
  const hasData = series.some(({ values }) => values.some((value) => value !== null && value > 0));
  const aside = (
    <>
      <span class="keys">
        {series.map(({ name, tone }) => (
          <span key={name} class={tone}>
            <i />
            {name}
          </span>
        ))}
      </span>
      <span>{unit}</span>
      <button type="button" class="link" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
        {isTable ? "chart" : "table"}
      </button>
    </>
  );
  return (
    <Panel title={title} aside={aside}>
      {isTable ? (
        <NumbersTable {...props} />
      ) : hasData ? (
        <>
          <Plot {...props} onShow={setShown} />
          <div class="reading" aria-live="polite">
            {shown === null || at[shown] === undefined
              ? ""
              : `${clockTime(at[shown])}: ${series.map(({ name, values }) => `${name} ${textOf(values[shown], format)}`).join(", ")}`}
          </div>
        </>
      ) : (
        <Empty title="Nothing in this time.">{empty}</Empty>
      )}
    </Panel>
  );
}

function textOf(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "–" : format(value);
}

function NumbersTable({ title, at, series, format }: ChartProps) {
  const rows = at.map((time, place) => ({ time, place })).reverse();
  return (
    <Table
      caption={title}
      rows={rows}
      keyOf={({ time }) => String(time)}
      columns={[
        { title: "Time", cell: ({ time }) => moment(time, Date.now()) },
        ...series.map(({ name, values }) => ({
          ...{ title: name, isNumber: true },
          cell: ({ place }: { place: number }) => textOf(values[place], format),
        })),
      ]}
    />
  );
}

function Plot(props: ChartProps & { readonly onShow: (at: number | null) => void }) {
  const { title, at, series, isStacked = false, onShow } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const chosenTheme = useCell(theme);
  const [isSystemDark, setSystemDark] = useState(dark.matches);
  useEffect(() => {
    const follow = () => setSystemDark(dark.matches);
    dark.addEventListener("change", follow);
    return () => dark.removeEventListener("change", follow);
  }, []);
  const data = useMemo(() => dataOf(at, series, isStacked), [at, series, isStacked]);
  const names = series.map(({ name }) => name).join();

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const made = new uPlot(optionsOf(props, element.clientWidth, onShow), data, element);
    plot.current = made;
    const watcher = new ResizeObserver(() => {
      if (element.clientWidth > 0) made.setSize({ width: element.clientWidth, height: HIGH });
    });
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [names, chosenTheme, isSystemDark]);
  useEffect(() => plot.current?.setData(data), [data]);

  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const made = plot.current;
    if (step === undefined || !made) return;
    const now = made.cursor.idx ?? at.length - 1 - Math.max(step, 0);
    const next = Math.min(at.length - 1, Math.max(0, now + step));
    made.setCursor({ left: made.valToPos((at[next] ?? 0) / 1000, "x"), top: 20 });
    event.preventDefault();
  };
  return (
    <div
      class="chart"
      tabIndex={0}
      role="group"
      aria-label={`${title}: a chart. Left and right arrow read it, or choose the table.`}
      onKeyDown={onKey}
      onBlur={() => plot.current?.setCursor({ left: -10, top: -10 })}
    >
      <div ref={box} />
    </div>
  );
}

const dark = matchMedia("(prefers-color-scheme: dark)");

function dataOf(
  at: readonly number[],
  series: readonly ChartSeries[],
  isStacked: boolean,
): uPlot.AlignedData {
  const times = at.map((time) => time / 1000);
  if (!isStacked) return [times, ...series.map(({ values }) => [...values])];
  const sums = at.map(() => 0);
  const stacked = series.map(({ values }) =>
    values.map((value, place) => (sums[place] = (sums[place] ?? 0) + (value ?? 0))),
  );
  return [times, ...stacked];
}

function optionsOf(
  { series, isStacked = false, isLog = false, format }: ChartProps,
  width: number,
  onShow: (at: number | null) => void,
): uPlot.Options {
  const ink = resolvedColor("--ink-3");
  const line = resolvedColor("--line-soft");
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  return {
    width: Math.max(width, 120),
    height: HIGH,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: "page" }, points: { size: 6 }, drag: { x: false, y: false } },
    scales: {
      y: isLog
        ? { distr: 3, range: (_, min, max) => ends(durationMarks(min, max)) }
        : { range: (_, __, max) => [0, Math.max(max, 1e-6) * 1.1] },
    },
    axes: [
      {
        ...axis,
        font,
        space: 70,
        size: 26,
        values: (_, times) => times.map((at) => clockTime(at * 1000).slice(0, 5)),
      },
      {
        ...axis,
        ...{ font, size: 56, space: 28 },
        ...(isLog && {
          splits: (_: uPlot, __: number, min: number, max: number) => durationMarks(min, max),
          // By itself it labels powers of ten alone.
          filter: (_: uPlot, splits: number[]) => splits,
        }),
        values: (_, values) => values.map((value) => (value == null ? "" : format(value))),
      },
    ],
    // Those on top are drawn first: what lies below covers their lower part.
    bands: isStacked
      ? series.slice(1).map((_, at) => ({ series: [at + 2, at + 1] as [number, number] }))
      : [],
    series: [
      {},
      ...series.map(({ name, tone, isDashed }) => {
        const stroke = resolvedColor(COLORS[tone]);
        // In a stack the areas tell: a line along the top would also be drawn where nothing is added.
        if (isStacked) {
          const share = tone === "ok" ? 0.3 : 0.8;
          return { label: name, width: 0, points: { show: false }, fill: faded(stroke, share) };
        }
        return {
          ...{ label: name, stroke, width: 1.5, points: { show: true, size: 4, fill: stroke } },
          ...(isDashed && { dash: [4, 3] }),
        };
      }),
    ],
    hooks: { setCursor: [(made) => onShow(made.cursor.idx ?? null)] },
  };
}

function ends(marks: readonly number[]): [number, number] {
  return [marks[0] ?? 1, marks.at(-1) ?? 1_000];
}
