/** Segments in order. Only one or two of them are in the store at a time. */
import { api } from "../../api/client.ts";
import type { Segment, Simulation } from "../../api/simulations.ts";
import { Listing } from "../../components/listing.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table.tsx";
import { Tag, Time, type Tone } from "../../components/texts.tsx";
import { useParam } from "../../state/router.ts";
import { useLoad } from "../../state/use-load.ts";
import { count } from "../../text/numbers.ts";

const PER_PAGE = 24;

export function SegmentsPanel({ simulation: { id, segments } }: { simulation: Simulation }) {
  const cursor = useParam("cursor");
  const list = useLoad(
    `segments of ${id} ${cursor}`,
    async (signal) => {
      const query = { limit: PER_PAGE, ...(cursor !== "" && { from: cursor }) };
      const page = await api.simulations.segments(id, query, signal);
      const nextCursor = page.next === null ? null : String(page.next);
      return { items: page.segments, nextCursor };
    },
    4_000,
  );
  return (
    <Panel title="Where is it?" aside={`${count(segments)} in all, in order`}>
      <Listing
        of={list}
        caption="Segments"
        columns={COLUMNS}
        keyOf={({ number }) => String(number)}
        none="It has no segments."
        hint="A simulation without records has none."
        told={(rows) => `segments ${rows[0]?.number ?? 0} to ${rows.at(-1)?.number ?? 0}`}
        next="Later"
      />
    </Panel>
  );
}

const TONES: Readonly<Record<Segment["status"], Tone>> = {
  ...{ pending: "idle", expanding: "wait", expanded: "wait", complete: "ok" },
};

const COLUMNS: readonly Column<Segment>[] = [
  { title: "Segment", isNumber: true, cell: ({ number }) => count(number) },
  { title: "Begins", cell: ({ start }) => <Time at={new Date(start).toISOString()} /> },
  { title: "State", cell: ({ status }) => <Tag tone={TONES[status]}>{status}</Tag> },
  {
    title: "Made",
    isNumber: true,
    cell: ({ counters, count: of }) =>
      `${count(counters?.["records_created"] ?? 0)} of ${count(of)}`,
  },
  {
    title: "Failed",
    isNumber: true,
    isWide: true,
    cell: ({ counters }) => {
      const failed = counters?.["records_failed"] ?? 0;
      return failed === 0 ? "0" : <span class="bad">{count(failed)}</span>;
    },
  },
  {
    title: "Complete",
    isNumber: true,
    isWide: true,
    cell: ({ completedAt }) => <Time at={completedAt} />,
  },
];
