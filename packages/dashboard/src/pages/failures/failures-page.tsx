/** The ledger: every attempt that failed, also of jobs that succeeded later. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { Failure } from "../../api/types.ts";
import { Pager } from "../../components/pager.tsx";
import { Panel } from "../../components/panel.tsx";
import { Segments } from "../../components/segments.tsx";
import { Content, Empty } from "../../components/states.tsx";
import { Table, type Column } from "../../components/table.tsx";
import { Tag, Time } from "../../components/texts.tsx";
import { act } from "../../state/act.ts";
import { askFirst } from "../../state/questions.ts";
import { href, setParams, usePlace } from "../../state/router.ts";
import { useMay, useMe } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { printExact } from "../../text/exact-json.ts";
import { plural } from "../../text/numbers.ts";
import { firstLine } from "../overview/side-panels.tsx";
import type { PageProps } from "../pages.ts";

const PER_PAGE = 50;
const FIELDS = ["type", "queue", "group"] as const;

export function FailuresPage(_: PageProps) {
  const { params } = usePlace();
  const { queues } = useMe();
  const mayPrune = useMay("admin") && queues === null;
  const { type, queue, group, final = "", resolved = "", cursor } = params;
  const failures = useLoad(
    JSON.stringify(params),
    (signal) =>
      api.ledger.failures({ type, queue, group, final, resolved, cursor, limit: PER_PAGE }, signal),
    10_000,
  );
  return (
    <>
      <div class="say">
        <h1>Failures</h1>
        <p class="soft">Each failed attempt, kept after its job is gone.</p>
        <span class="sp" />
        {mayPrune && (
          <button type="button" class="btn" onClick={() => void prune(failures.reload)}>
            Prune
          </button>
        )}
      </div>
      <div class="row">
        <Segments
          label="Which failures"
          value={final}
          options={[
            { value: "", text: "All" },
            { value: "true", text: "Final" },
            { value: "false", text: "Tried again" },
          ]}
          onChange={(value) => setParams({ final: value, cursor: null })}
        />
        <Segments
          label="Resolved or not"
          value={resolved}
          options={[
            { value: "", text: "Any" },
            { value: "false", text: "Open" },
            { value: "true", text: "Resolved" },
          ]}
          onChange={(value) => setParams({ resolved: value, cursor: null })}
        />
        {FIELDS.map((name) => (
          <label key={name} class="row">
            <span class="sub">{name}</span>
            <input
              class="in"
              value={params[name] ?? ""}
              onChange={(event) => setParams({ [name]: event.currentTarget.value, cursor: null })}
            />
          </label>
        ))}
      </div>
      <Panel title="What failed?" aside="newest first">
        <Content of={failures}>
          {({ items, nextCursor }) =>
            items.length === 0 ? (
              <Empty title="No such failure is kept.">
                Failures are kept for 14 days unless the program says otherwise.
              </Empty>
            ) : (
              <>
                <Table
                  caption="Failed attempts"
                  columns={COLUMNS}
                  rows={items}
                  keyOf={({ id }) => id}
                />
                <Pager nextCursor={nextCursor}>{plural(items.length, "failure")}</Pager>
              </>
            )
          }
        </Content>
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<Failure>[] = [
  { title: "Error", cell: (failure) => <Told failure={failure} /> },
  {
    title: "Job",
    cell: ({ jobId, type, queue, group }) => (
      <>
        <a class="mono any" href={href(["jobs", jobId])}>
          {type}
        </a>
        <div class="sub any">
          {queue}
          {group !== null && ` · ${group}`}
        </div>
      </>
    ),
  },
  {
    title: "Attempt",
    isNumber: true,
    isWide: true,
    cell: ({ attempt, maxAttempts }) => `${attempt} of ${maxAttempts}`,
  },
  {
    title: "State",
    isWide: true,
    cell: ({ final, resolvedAt }) =>
      resolvedAt !== null ? (
        <Tag tone="ok">resolved</Tag>
      ) : final ? (
        <Tag tone="bad">final</Tag>
      ) : (
        <Tag tone="warn">tried again</Tag>
      ),
  },
  { title: "When", isNumber: true, cell: ({ failedAt }) => <Time at={failedAt} /> },
];

/** Its first line; the whole of it, with stack and payload, when it is opened. */
function Told({ failure }: { failure: Failure }) {
  const [isOpen, setOpen] = useState(false);
  const { message, category, fingerprint, stack, payload, worker } = failure;
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="any">{firstLine(message)}</span>
        <div class="sub">
          {category}
          {fingerprint !== null && (
            <>
              {" · "}
              <a href={href(["dead-letters"], { fault: fingerprint })}>its fault</a>
            </>
          )}
        </div>
      </summary>
      {isOpen && (
        <div class="form">
          <pre>{stack ?? message}</pre>
          <div class="sub any">at worker {worker}, with this payload:</div>
          <pre>{printExact(payload, 2)}</pre>
        </div>
      )}
    </details>
  );
}

async function prune(reload: () => void): Promise<void> {
  const answer = await askFirst({
    title: "Prune failures now?",
    body: "Those that are past their keeping go for good. A chore does the same by itself.",
    ...{ verb: "Prune", isDestructive: true, reason: "none" },
  });
  if (answer === null) return;
  const done = ({ pruned }: { readonly pruned: number }) => `${plural(pruned, "failure")} went.`;
  if (await act(() => api.ledger.prune(), done)) reload();
}
