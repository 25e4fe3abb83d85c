/** A trend without axes: beside a number, never instead of one. */
import type { Tone } from "./texts.tsx";

interface SparklineProps {
  readonly values: readonly number[];
  readonly tone?: Tone;
  readonly isSmall?: boolean;
  /** What it shows: "Ready jobs of mail, last two minutes". */
  readonly label: string;
}

const WIDE = 100;
const HIGH = 26;

export function Sparkline({ values, tone = "wait", isSmall, label }: SparklineProps) {
  const color = tone === "idle" ? "var(--ink-3)" : `var(--${tone})`;
  const most = Math.max(...values, 1e-9);
  const points = values
    .map((value, at) => {
      const x = values.length < 2 ? WIDE : (at / (values.length - 1)) * WIDE;
      return `${x.toFixed(1)},${(HIGH - 2 - (value / most) * (HIGH - 6)).toFixed(1)}`;
    })
    .join(" ");
  const last = values.at(-1) ?? 0;
  return (
    <svg
      class={`spark${isSmall ? " small" : ""}`}
      viewBox={`0 0 ${WIDE} ${HIGH}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: from ${values[0] ?? 0} to ${last}, at most ${Math.max(0, ...values)}`}
    >
      {values.length > 1 && (
        <>
          <polygon points={`0,${HIGH} ${points} ${WIDE},${HIGH}`} fill={color} opacity="0.12" />
          <polyline
            points={points}
            fill="none"
            stroke={color}
            stroke-width="1.5"
            vector-effect="non-scaling-stroke"
          />
        </>
      )}
    </svg>
  );
}
