/** The worst faults, what runs over many jobs, and what people did. */
import type { Overview } from "../../api/types.ts";
import { Bar } from "../../components/bar.tsx";
import { Panel } from "../../components/panel.tsx";
import { Empty } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { Relative, Tag, Time } from "../../components/texts.tsx";
import { href } from "../../state/router.ts";
import { useMay } from "../../state/session.ts";
import { cappedCount, count } from "../../text/numbers.ts";

export function FaultsPanel({ overview }: { overview: Overview }) {
  const { faults } = overview;
  return (
    <Panel title="What do jobs die of?" aside={<a href="#/dead-letters">all dead letters</a>}>
      {faults.length === 0 ? (
        <Empty title="No fault is open.">
          Jobs that use up their attempts are grouped here by their error.
        </Empty>
      ) : (
        <Table
          caption="The commonest faults"
          rows={faults}
          keyOf={({ fingerprint, type }) => `${fingerprint} ${type}`}
          hrefOf={({ fingerprint }) => href(["dead-letters"], { fault: fingerprint })}
          columns={[
            {
              title: "Fault",
              cell: ({ fingerprint, message, type, category, state }) => (
                <>
                  <a class="main any" href={href(["dead-letters"], { fault: fingerprint })}>
                    {firstLine(message)}
                  </a>
                  <div class="sub">
                    <span class="mono">{type}</span> · {category ?? "no category"}{" "}
                    {state === "back" && <Tag tone="bad">back</Tag>}
                  </div>
                </>
              ),
            },
            {
              title: "Jobs",
              isNumber: true,
              cell: ({ count: jobs, lastAt }) => (
                <>
                  <b>{cappedCount(jobs)}</b>
                  <div class="sub">
                    <Relative at={lastAt} />
                  </div>
                </>
              ),
            },
          ]}
        />
      )}
    </Panel>
  );
}

export function firstLine(message: string | null): string {
  const [line = ""] = (message ?? "").split("\n");
  return line.trim() === "" ? "Without a message" : line.slice(0, 160);
}

export function OperationsPanel({ overview }: { overview: Overview }) {
  const { operations } = overview;
  if (operations.length === 0) return null;
  return (
    <Panel title="Which operations run?" aside={<a href="#/operations">all operations</a>} isPadded>
      {operations.map(({ id, action, state, of, done, failedAgain, by }) => (
        <div key={id} class="form">
          <div class="between">
            <a href={`#/operations/${encodeURIComponent(id)}`}>
              {action} {count(of)} jobs
            </a>
            <span class="sub">
              {state} · by {by ?? "a program"}
            </span>
          </div>
          <Bar
            label={`${action}: ${done} of ${of}`}
            of={of}
            parts={[
              { tone: "ok", value: done - failedAgain },
              { tone: "bad", value: failedAgain },
            ]}
          />
        </div>
      ))}
    </Panel>
  );
}

const SHOWN = 6;

export function ActionsPanel({ overview }: { overview: Overview }) {
  const maySeeAll = useMay("admin");
  return (
    <Panel
      title="What changed?"
      aside={maySeeAll ? <a href="#/audit">the audit</a> : "the last six"}
    >
      {overview.actions.length === 0 ? (
        <Empty title="People changed nothing lately.">
          Every write here and by the command line is noted.
        </Empty>
      ) : (
        <Table
          caption="The last actions"
          rows={overview.actions.slice(0, SHOWN)}
          keyOf={({ id }) => id}
          columns={[
            {
              title: "What",
              cell: ({ action, by, reason, queue, state }) => (
                <>
                  <span class="any">
                    <b>{action}</b> {queue ?? ""}{" "}
                    {state === "refused" && <Tag tone="bad">refused</Tag>}
                  </span>
                  <div class="sub two-lines">
                    by {by ?? "a program"}
                    {reason !== null && reason !== "" && `: “${reason}”`}
                  </div>
                </>
              ),
            },
            { title: "When", isNumber: true, cell: ({ at }) => <Time at={at} /> },
          ]}
        />
      )}
    </Panel>
  );
}
