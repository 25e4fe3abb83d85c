/** The lines of a queue: which groups wait, which run, what each may take. */
import { api } from "../../api/client.ts";
import type { Line } from "../../api/types.ts";
import { Pager } from "../../components/pager.tsx";
import { Panel } from "../../components/panel.tsx";
import { Content, Empty } from "../../components/states.tsx";
import { Table, type Column } from "../../components/table.tsx";
import { Age, Tag } from "../../components/texts.tsx";
import { act } from "../../state/act.ts";
import { askFirst } from "../../state/questions.ts";
import { href, useParam } from "../../state/router.ts";
import { useMay } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { cappedCount, count, plural } from "../../text/numbers.ts";
import { qualifierText } from "../../text/job-query.ts";
import { checkBound } from "./queue-settings.tsx";
import { pauseFirst } from "./pause-first.ts";

export function Lines({ queue }: { queue: string }) {
  const cursor = useParam("cursor");
  const mayOperate = useMay("operator");
  const lines = useLoad(
    `${queue} ${cursor}`,
    (signal) => api.queues.lines(queue, { limit: 50, cursor }, signal),
    3_000,
  );
  const columns: readonly Column<Line>[] = [
    {
      title: "Group",
      cell: ({ group, holds }) => (
        <>
          <a
            class="main any"
            href={href(["jobs"], { q: `queue:${queue} ${qualifierText("group", group)}` })}
          >
            {group === "" ? "without a group" : group}
          </a>
          {holds[0] && (
            <div class="held">
              <Tag tone="wait">{`held: ${holds[0].reason === "" ? holds[0].owner : holds[0].reason}`}</Tag>
            </div>
          )}
        </>
      ),
    },
    {
      title: "Oldest",
      isNumber: true,
      isWide: true,
      cell: ({ oldestAt }) => <Age at={oldestAt} />,
    },
    { title: "Ready", isNumber: true, cell: ({ waiting }) => cappedCount(waiting) },
    {
      title: "Running",
      isNumber: true,
      cell: ({ active, maxActive }) => (
        <>
          {count(active)} {maxActive !== null && <span class="sub">of {count(maxActive)}</span>}
        </>
      ),
    },
    { title: "Weight", isNumber: true, isWide: true, cell: ({ weight }) => count(weight) },
    ...(mayOperate
      ? [
          {
            title: "",
            isNumber: true,
            cell: (line: Line) => <LineActions line={line} reload={lines.reload} />,
          },
        ]
      : []),
  ];
  return (
    <Panel title="Which groups wait?" aside="each has a line of its own, and its turn by weight">
      <Content of={lines}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <Empty title="No group waits or runs.">
              A group is here while jobs of it are ready, running or held.
            </Empty>
          ) : (
            <>
              <Table
                caption={`Lines of ${queue}`}
                columns={columns}
                rows={items}
                keyOf={({ group }) => group}
              />
              <Pager nextCursor={nextCursor} next="More">
                {plural(items.length, "group")}, by name
              </Pager>
            </>
          )
        }
      </Content>
    </Panel>
  );
}

function LineActions({ line, reload }: { line: Line; reload: () => void }) {
  const { queue, group, holds } = line;
  // The route names a group; the line without one has no name.
  if (group === "") return null;
  const isPaused = holds.some(({ owner }) => owner === "pause");
  const limit = async () => {
    const answer = await askFirst({
      title: `Limits of group ${group}`,
      body: "Weight is how many turns it gets where others get one.",
      ...{ verb: "Set", reason: "none" },
      fields: [
        {
          ...{
            name: "maxActive",
            label: "Most running at once (empty: no limit of its own)",
            kind: "number",
          },
          ...{ value: line.maxActive === null ? "" : String(line.maxActive), check: checkBound },
        },
        {
          ...{
            name: "weight",
            label: "Weight, 1 to 1,000",
            kind: "number",
            value: String(line.weight),
          },
          check: (text) => (/^([1-9]\d{0,2}|1000)$/.test(text) ? null : "1 to 1,000"),
        },
      ],
    });
    if (answer === null) return;
    const { maxActive = "", weight = "" } = answer.fields;
    const body = {
      ...{ maxActive: maxActive === "" ? null : Number(maxActive) },
      ...{ weight: weight === "" ? null : Number(weight) },
    };
    if (await act(() => api.queues.limits({ queue, group }, body), `Limits of ${group} are set.`))
      reload();
  };
  const resume = async () => {
    if (await act(() => api.queues.resume({ queue, group }), `Group ${group} goes on.`)) reload();
  };
  return (
    <span class="acts">
      {isPaused ? (
        <button type="button" class="btn small" onClick={() => void resume()}>
          Resume
        </button>
      ) : (
        <button
          type="button"
          class="btn small"
          onClick={() => void pauseFirst({ queue, group }, reload)}
        >
          Pause
        </button>
      )}
      <button type="button" class="btn small" onClick={() => void limit()}>
        Limit
      </button>
    </span>
  );
}
