/** What was done to many jobs at once: all of it, newest first, and one with its progress. */
import { api } from "../../api/client.ts";
import type { Operation } from "../../api/types.ts";
import { Panel } from "../../components/panel.tsx";
import { Content, Empty } from "../../components/states.tsx";
import { Table, type Column } from "../../components/table.tsx";
import { Time } from "../../components/texts.tsx";
import { href } from "../../state/router.ts";
import { useMay, useMe } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { count } from "../../text/numbers.ts";
import type { PageProps } from "../pages.ts";
import { eraseByForm } from "./erase-form.ts";
import { OperationPage } from "./operation-page.tsx";
import { OperationTag } from "./operation-tag.tsx";

export function OperationsPage({ path }: PageProps) {
  const [id] = path;
  return id === undefined ? <OperationsList /> : <OperationPage id={id} />;
}

function OperationsList() {
  const { queues } = useMe();
  const mayErase = useMay("admin") && queues === null;
  const operations = useLoad("operations", (signal) => api.operations.list(signal), 2_000);
  return (
    <>
      <div class="say">
        <h1>Operations</h1>
        <p class="soft">
          A retry, cancel, remove or reschedule of many jobs, paced over the fleet.
        </p>
        <span class="sp" />
        {mayErase && (
          <button type="button" class="btn danger" onClick={() => void eraseByForm()}>
            Erase a tenant
          </button>
        )}
      </div>
      <Panel title="What was done to many jobs?" aside="newest first">
        <Content of={operations}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="There was no operation yet.">
                Search for <a href={href(["jobs"])}>jobs</a> and choose all that match, or replay{" "}
                <a href={href(["dead-letters"])}>dead letters</a>.
              </Empty>
            ) : (
              <Table
                caption="Operations"
                columns={COLUMNS}
                rows={items}
                keyOf={({ id }) => id}
                hrefOf={({ id }) => href(["operations", id])}
              />
            )
          }
        </Content>
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<Operation>[] = [
  {
    title: "What",
    cell: ({ id, action, by, reason }) => (
      <>
        <a class="main" href={href(["operations", id])}>
          {action}
        </a>
        <div class="sub any">
          by {by ?? "a program"}
          {reason !== null && reason !== "" && `: “${reason}”`}
        </div>
      </>
    ),
  },
  { title: "State", cell: ({ state }) => <OperationTag state={state} /> },
  {
    title: "Done",
    isNumber: true,
    cell: ({ done, of }) => `${count(done)} of ${count(of)}`,
  },
  {
    title: "Failed again",
    isNumber: true,
    isWide: true,
    cell: ({ failedAgain }) =>
      failedAgain === 0 ? "0" : <span class="bad">{count(failedAgain)}</span>,
  },
  { title: "Planned", isNumber: true, cell: ({ plannedAt }) => <Time at={plannedAt} /> },
  {
    title: "Ended",
    isNumber: true,
    isWide: true,
    cell: ({ endedAt }) => <Time at={endedAt} />,
  },
];
