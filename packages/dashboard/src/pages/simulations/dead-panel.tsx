/** Dead jobs of one simulation, and the way to run them again. */
import { api } from "../../api/client.ts";
import type { Simulation, SimulationDead } from "../../api/simulations.ts";
import { Panel } from "../../components/panel.tsx";
import { Content, Empty } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { Tag } from "../../components/texts.tsx";
import { act } from "../../state/act.ts";
import { askFirst } from "../../state/questions.ts";
import { href } from "../../state/router.ts";
import { useMay } from "../../state/session.ts";
import { tell, tellError } from "../../state/toasts.ts";
import { useLoad } from "../../state/use-load.ts";
import { qualifierText } from "../../text/job-query.ts";
import { count, plural } from "../../text/numbers.ts";

export function DeadPanel({ simulation: { id, status } }: { simulation: Simulation }) {
  const dead = useLoad(`dead of ${id}`, (signal) => api.simulations.dead(id, signal), 5_000);
  // A simulation that was aborted stays so: the server refuses to run its jobs again.
  const mayReplay = useMay("operator") && status !== "aborted";
  const total = dead.data?.total ?? 0;
  const aside = total > 0 && (
    <>
      <a href={href(["jobs"], { q: `status:dead ${qualifierText("tag", `sim:${id}`)}` })}>
        all {dead.data?.isCut === true && "more than "}
        {count(total)}
      </a>
      {mayReplay && (
        <button type="button" class="btn small" onClick={() => void replay(id, dead.reload)}>
          Replay …
        </button>
      )}
    </>
  );
  return (
    <Panel title="What died?" aside={aside}>
      <Content of={dead}>{(found) => <Dead of={found} />}</Content>
    </Panel>
  );
}

function Dead({ of: { total, byCategory, samples, reconciled } }: { of: SimulationDead }) {
  if (total === 0) return <Empty title="Nothing.">Its dead letters would stand here.</Empty>;
  return (
    <>
      <div class="b">
        <span class="row">
          {Object.entries(byCategory).map(([category, jobs]) => (
            <Tag key={category} tone="bad">{`${category} ${count(jobs)}`}</Tag>
          ))}
        </span>
        {!reconciled && (
          <div class="sub">
            The counters have another number: some died a moment ago, or were removed by hand.
          </div>
        )}
      </div>
      <Table
        caption="Dead jobs, some of them"
        rows={samples}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => href(["jobs", id])}
        columns={[
          {
            title: "Job",
            cell: ({ type, message }) => (
              <>
                <span class="main any">{type}</span>
                <div class="sub any two-lines">{message}</div>
              </>
            ),
          },
          {
            title: "Category",
            isWide: true,
            cell: ({ category }) => category ?? <span class="sub">–</span>,
          },
        ]}
      />
    </>
  );
}

/** A dry run first: the question has the number that it is about. */
async function replay(id: string, reload: () => void): Promise<void> {
  let planned: number;
  try {
    planned = (await api.simulations.replay(id, { dryRun: true })).count;
  } catch (error) {
    tellError(error);
    return;
  }
  if (planned === 0) {
    tell("There is nothing to replay.");
    return;
  }
  const answer = await askFirst({
    title: `Replay ${plural(planned, "job")} of ${id}?`,
    body: "The oldest first, with one more attempt each. It is an operation: it can be paused and aborted.",
    ...{ verb: `Replay ${plural(planned, "job")}`, reason: "required" },
  });
  if (answer === null) return;
  const done = await act(
    // More may have died since: no more are run again than was said.
    () => api.simulations.replay(id, { dryRun: false, limit: planned, reason: answer.reason }),
    "The replay has begun.",
    ({ operation }) =>
      operation === null ? null : { href: href(["operations", operation]), text: "Watch it" },
  );
  if (done) reload();
}
