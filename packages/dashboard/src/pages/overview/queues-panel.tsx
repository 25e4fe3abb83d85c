/** Queues by how long their oldest job waits: what is late comes before what is large. */
import type { Overview, QueueCounts } from "../../api/types.ts";
import { Panel } from "../../components/panel.tsx";
import { Sparkline } from "../../components/sparkline.tsx";
import { Empty } from "../../components/states.tsx";
import { Table, type Column } from "../../components/table.tsx";
import { Age, Name, Tag } from "../../components/texts.tsx";
import { samples } from "../../state/live.ts";
import { count, plural } from "../../text/numbers.ts";

const SHOWN = 12;

const COLUMNS: readonly Column<QueueCounts>[] = [
  {
    title: "Queue",
    cell: ({ queue, holds }) => (
      <>
        <a class="main any" href={`#/queues/${encodeURIComponent(queue)}`}>
          <Name of={queue} />
        </a>
        {holds?.[0] && (
          <div class="held">
            <Tag tone="wait">{`held: ${holds[0]}`}</Tag>
          </div>
        )}
      </>
    ),
  },
  {
    title: "Oldest waiting",
    isNumber: true,
    cell: ({ oldestReadyAt }) => <Age at={oldestReadyAt} />,
  },
  { title: "Ready", isNumber: true, cell: ({ ready }) => count(ready) },
  { title: "Due later", isNumber: true, isWide: true, cell: ({ delayed }) => count(delayed) },
  { title: "Running", isNumber: true, cell: ({ processing }) => count(processing) },
  { title: "Retrying", isNumber: true, isWide: true, cell: ({ retrying }) => count(retrying) },
  {
    title: "Dead",
    isNumber: true,
    isWide: true,
    cell: ({ dead }) => <span class={dead > 0 ? "bad" : ""}>{count(dead)}</span>,
  },
  {
    title: "Ready, last 2 min",
    isWide: true,
    cell: ({ queue }) => (
      <Sparkline label={`Ready jobs of ${queue}`} values={samples.ofQueue(queue)} isSmall />
    ),
  },
];

export function QueuesPanel({ overview }: { overview: Overview }) {
  const rows = [...overview.queues].sort(byAge).slice(0, SHOWN);
  return (
    <Panel
      title="Which queues are behind?"
      aside={
        <>
          <span>by oldest waiting</span>
          <a href="#/queues">all {plural(overview.queueCount, "queue")}</a>
        </>
      }
    >
      {rows.length === 0 ? (
        <Empty title="There are no queues yet.">
          A queue is there once a job was enqueued into it.
        </Empty>
      ) : (
        <Table
          caption="Queues by the age of their oldest ready job"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ queue }) => queue}
          hrefOf={({ queue }) => `#/queues/${encodeURIComponent(queue)}`}
        />
      )}
    </Panel>
  );
}

export function byAge(a: QueueCounts, b: QueueCounts): number {
  const [oldA, oldB] = [a, b].map(({ oldestReadyAt }) =>
    oldestReadyAt === null ? Infinity : Date.parse(oldestReadyAt),
  );
  if (oldA !== oldB) return (oldA ?? 0) - (oldB ?? 0);
  const size = (one: QueueCounts) => one.ready + one.processing + one.delayed;
  return size(b) - size(a) || (a.queue < b.queue ? -1 : 1);
}
