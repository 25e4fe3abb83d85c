/** Every queue: how late, how deep, how fast. One of them: its lines, limits and settings. */
import { api } from "../../api/client.ts";
import type { QueueCounts } from "../../api/types.ts";
import { Pager } from "../../components/pager.tsx";
import { Panel } from "../../components/panel.tsx";
import { Segments } from "../../components/segments.tsx";
import { Content, Empty } from "../../components/states.tsx";
import { Table, type Column } from "../../components/table.tsx";
import { Age, Name, Tag } from "../../components/texts.tsx";
import { href, setParams, useParam } from "../../state/router.ts";
import { useLoad } from "../../state/use-load.ts";
import { count, plural } from "../../text/numbers.ts";
import { byAge } from "../overview/queues-panel.tsx";
import type { PageProps } from "../pages.ts";
import { QueuePage } from "./queue-page.tsx";

const PER_PAGE = 200;

const COLUMNS: readonly Column<QueueCounts>[] = [
  {
    title: "Queue",
    cell: ({ queue, holds }) => (
      <>
        <a class="main any" href={href(["queues", queue])}>
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
  { title: "Retrying", isNumber: true, isWide: true, cell: ({ retrying }) => count(retrying) },
  { title: "Running", isNumber: true, cell: ({ processing }) => count(processing) },
  {
    title: "Succeeded, kept",
    isNumber: true,
    isWide: true,
    cell: ({ succeeded }) => count(succeeded),
  },
  {
    title: "Dead",
    isNumber: true,
    isWide: true,
    cell: ({ dead, queue }) =>
      dead === 0 ? (
        "0"
      ) : (
        <a class="bad" href={href(["dead-letters"], { queue })}>
          {count(dead)}
        </a>
      ),
  },
];

export function QueuesPage({ path }: PageProps) {
  const [queue] = path;
  return queue === undefined ? <QueuesList /> : <QueuePage queue={queue} />;
}

function QueuesList() {
  const cursor = useParam("cursor");
  const order = useParam("order") === "name" ? "name" : "age";
  const queues = useLoad(
    `queues ${cursor}`,
    (signal) => api.queues.list({ limit: PER_PAGE, cursor }, signal),
    5_000,
  );
  return (
    <>
      <div class="say">
        <h1>Queues</h1>
        <p class="soft">Late before deep: a queue is behind when its oldest job has waited long.</p>
      </div>
      <Segments
        label="Order"
        value={order}
        options={[
          { value: "age", text: "By oldest waiting" },
          { value: "name", text: "By name" },
        ]}
        onChange={(value) => setParams({ order: value === "name" ? value : null })}
      />
      <Panel title={order === "age" ? "By oldest waiting" : "By name"}>
        <Content of={queues}>
          {({ items, nextCursor }) =>
            items.length === 0 ? (
              <Empty title="There are no queues yet.">
                A queue is there once a job was enqueued into it.
              </Empty>
            ) : (
              <>
                <Table
                  caption="Queues"
                  columns={COLUMNS}
                  rows={order === "age" ? [...items].sort(byAge) : items}
                  keyOf={({ queue }) => queue}
                  hrefOf={({ queue }) => href(["queues", queue])}
                />
                <Pager nextCursor={nextCursor} next="More">
                  {plural(items.length, "queue")}
                  {nextCursor !== null || cursor !== ""
                    ? ", by name; the order is that of this page"
                    : ""}
                </Pager>
              </>
            )
          }
        </Content>
      </Panel>
    </>
  );
}
