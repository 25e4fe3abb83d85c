/** Five numbers: how long things wait, how fast they go, what fails, what died, who works. */
import type { Overview, Stats } from "../../api/types.ts";
import { Figure } from "../../components/figure.tsx";
import { Sparkline } from "../../components/sparkline.tsx";
import { useNow } from "../../state/clock.ts";
import { samples } from "../../state/live.ts";
import { deadLately, failingShare } from "../../text/health.ts";
import { cappedCount, count, percent, plural, rate } from "../../text/numbers.ts";
import { duration } from "../../text/times.ts";

const LATE_MS = 60_000;
const VERY_LATE_MS = 5 * 60_000;

export function HealthStrip({ overview, stats }: { overview: Overview; stats: Stats | null }) {
  return (
    <div class="strip">
      <Oldest overview={overview} />
      <Finished stats={stats} />
      <Failing stats={stats} />
      <Dead overview={overview} stats={stats} />
      <Workers overview={overview} />
    </div>
  );
}

function Oldest({ overview }: { overview: Overview }) {
  const now = useNow();
  const [worst] = overview.queues
    .filter(({ oldestReadyAt }) => oldestReadyAt !== null)
    .sort((a, b) => Date.parse(a.oldestReadyAt ?? "") - Date.parse(b.oldestReadyAt ?? ""));
  const ms = worst ? now - Date.parse(worst.oldestReadyAt ?? "") : 0;
  const [value = "", unit = ""] = duration(ms).split(" ");
  const tone = ms > VERY_LATE_MS ? "bad" : ms > LATE_MS ? "warn" : "";
  const reason = worst?.holds?.[0];
  return (
    <Figure
      name="Oldest waiting"
      value={worst ? value : "none"}
      {...(worst && { unit: `${unit} in ${worst.queue}` })}
      tone={tone}
      about={reason ? `held: ${reason}` : plural(overview.totals.ready, "ready job")}
      href={worst ? `#/queues/${encodeURIComponent(worst.queue)}` : "#/queues"}
    >
      <Sparkline
        label="Oldest waiting, since this page was opened"
        values={samples.all.map(({ oldestMs }) => oldestMs)}
        tone={tone === "" ? "wait" : tone}
      />
    </Figure>
  );
}

function Finished({ stats }: { stats: Stats | null }) {
  const ended = (stats?.series ?? []).map(({ succeeded, dead }) => succeeded + dead);
  // The newest minute is not over.
  const perSecond = (ended.at(-2) ?? 0) / 60;
  const p95 = stats?.waitMs.count
    ? `95 % wait less than ${duration(stats.waitMs.p95)}`
    : "none in 15 min";
  return (
    <Figure
      name="Finished per second"
      value={stats ? rate(perSecond) : "–"}
      unit="jobs, last minute"
      about={p95}
      href="#/queues"
    >
      <Sparkline label="Finished jobs each minute" values={ended} />
    </Figure>
  );
}

function Failing({ stats }: { stats: Stats | null }) {
  const share = failingShare(stats);
  const values = (stats?.series ?? []).map(({ succeeded, retried, dead }) => {
    const all = succeeded + retried + dead;
    return all === 0 ? 0 : (retried + dead) / all;
  });
  const [top] = stats?.topFailing ?? [];
  const tone = share === null || share < 0.01 ? "" : share < 0.2 ? "warn" : "bad";
  return (
    <Figure
      name="Failing now"
      value={share === null ? "–" : percent(share)}
      unit="% of attempts, 5 min"
      tone={tone}
      about={top ? `most: ${top.type}` : "no failure in 15 min"}
      href="#/failures"
    >
      <Sparkline
        label="Share of attempts that failed, each minute"
        values={values}
        tone={tone === "" ? "idle" : tone}
      />
    </Figure>
  );
}

function Dead({ overview, stats }: { overview: Overview; stats: Stats | null }) {
  const { dead } = overview.totals;
  const more = deadLately(stats);
  return (
    <Figure
      name="Dead letters"
      value={cappedCount(dead)}
      unit={more === 0 ? "none new" : `+${count(more)} in 5 min`}
      tone={more > 0 ? "bad" : ""}
      about={overview.faults.length === 0 ? "no fault" : `most: ${overview.faults[0]?.type ?? ""}`}
      href="#/dead-letters"
    >
      <Sparkline
        label="Dead letters, each minute"
        values={(stats?.series ?? []).map((point) => point.dead)}
        tone={more > 0 ? "bad" : "idle"}
      />
    </Figure>
  );
}

function Workers({ overview }: { overview: Overview }) {
  const { count: alive, slots, active, quiet } = overview.workers;
  const isMissing = alive === 0 && overview.totals.ready > 0;
  return (
    <Figure
      name="Workers"
      value={count(alive)}
      unit={quiet === 0 ? "alive" : `alive, ${quiet} quiet`}
      tone={isMissing ? "bad" : quiet > 0 ? "warn" : ""}
      about={`${count(active)} of ${plural(slots, "slot")} busy`}
      href="#/workers"
    >
      <Sparkline
        label="Running jobs, since this page was opened"
        values={samples.all.map(({ processing }) => processing)}
        tone="ok"
      />
    </Figure>
  );
}
