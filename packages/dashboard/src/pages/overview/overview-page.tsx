/** Is it healthy, what is the worst, what changed? Everything here comes by one stream, and one read of charts. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { Segments } from "../../components/segments.tsx";
import { Content } from "../../components/states.tsx";
import { useNow } from "../../state/clock.ts";
import { useLive } from "../../state/live.ts";
import { setParams, useParam } from "../../state/router.ts";
import { useMe } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { healthSentence } from "../../text/health.ts";
import type { PageProps } from "../pages.ts";
import { Charts } from "./charts.tsx";
import { HealthStrip } from "./health-strip.tsx";
import { QueuesPanel } from "./queues-panel.tsx";
import { ActionsPanel, FaultsPanel, OperationsPanel } from "./side-panels.tsx";

export const WINDOWS = [
  { value: "15m", text: "15 min", ms: 15 * 60_000 },
  { value: "2h", text: "2 h", ms: 2 * 3_600_000 },
  { value: "24h", text: "24 h", ms: 24 * 3_600_000 },
  { value: "8d", text: "8 days", ms: 8 * 86_400_000 },
] as const;

const CHARTS_EVERY_MS = 10_000;

export function OverviewPage(_: PageProps) {
  const me = useMe();
  const now = useNow();
  const { state, overview, isStoreAway } = useLive();
  const isUnreachable = state === "unreachable";
  const chosen = useParam("window");
  const span = WINDOWS.find(({ value }) => value === chosen) ?? WINDOWS[0];
  // A token of several queues cannot ask for all of them together.
  const mayAsk = me.queues === null || me.queues.length === 1;
  const recent = useLoad(
    mayAsk ? "recent" : null,
    (signal) => api.stats({ lastMs: 15 * 60_000 }, signal),
    CHARTS_EVERY_MS,
  );
  const charts = useLoad(
    mayAsk && span.value !== "15m" ? span.value : null,
    (signal) => api.stats({ lastMs: span.ms }, signal),
    60_000,
  );
  const [seen] = useState(() => Date.now());
  if (overview === null) {
    return (
      <div class="state" aria-busy="true">
        {now - seen > 5_000 ? "The first numbers take long to come …" : "Loading …"}
      </div>
    );
  }
  const stats = recent.data;
  const facts = { overview, stats, isStoreAway, isUnreachable, now };
  const { tone, head, rest, link } = healthSentence(facts);
  const shown = span.value === "15m" ? recent : charts;
  return (
    <>
      <div class="say">
        <h1>
          <span class={tone} aria-hidden="true">
            ●
          </span>{" "}
          {head}
        </h1>
        <p class="soft any">
          {rest} {link && <a href={link.href}>{link.text} →</a>}
        </p>
      </div>
      <HealthStrip overview={overview} stats={stats} />
      {mayAsk && (
        <section class="stack" aria-label="Charts">
          <div class="row">
            <Segments
              label="Time that charts show"
              value={span.value}
              options={WINDOWS}
              onChange={(value) => setParams({ window: value === "15m" ? null : value })}
            />
          </div>
          <Content of={shown}>{(data) => <Charts stats={data} />}</Content>
        </section>
      )}
      <QueuesPanel overview={overview} />
      <div class="two">
        <div class="stack">
          <FaultsPanel overview={overview} />
        </div>
        <div class="stack">
          <OperationsPanel overview={overview} />
          <ActionsPanel overview={overview} />
        </div>
      </div>
    </>
  );
}
