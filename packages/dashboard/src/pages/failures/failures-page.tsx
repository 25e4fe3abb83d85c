/** The ledger: every attempt that failed, also of jobs that succeeded later. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { Failure } from "../../api/types.ts";
import { FilterChoice, FilterText } from "../../components/filters.tsx";
import { Listing } from "../../components/listing.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table.tsx";
import { Tag, Time } from "../../components/texts.tsx";
import { act } from "../../state/act.ts";
import { askFirst } from "../../state/questions.ts";
import { href, usePlace } from "../../state/router.ts";
import { useMay, useMe } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { printExact } from "../../text/exact-json.ts";
import { plural } from "../../text/numbers.ts";
import { firstLine } from "../overview/side-panels.tsx";
import type { PageProps } from "../pages.ts";

const PER_PAGE = 50;

export function FailuresPage(_: PageProps) {
  const { params } = usePlace();
  const { queues } = useMe();
  const mayPrune = useMay("admin") && queues === null;
  const { type, queue, group, jobId, final, resolved, cursor } = params;
  const asked = { type, queue, group, jobId, final, resolved, cursor };
  const failures = useLoad(
    JSON.stringify(asked),
    (signal) => api.ledger.failures({ ...asked, limit: PER_PAGE }, signal),
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
        <FilterChoice
          label="Which failures"
          param="final"
          options={[
            { value: "", text: "All" },
            { value: "true", text: "Final" },
            { value: "false", text: "Tried again" },
          ]}
        />
        <FilterChoice
          label="Resolved or not"
          param="resolved"
          options={[
            { value: "", text: "Any" },
            { value: "false", text: "Open" },
            { value: "true", text: "Resolved" },
          ]}
        />
        <FilterText label="Type" param="type" />
        <FilterText label="Queue" param="queue" />
        <FilterText label="Group" param="group" />
        <FilterText label="Job" param="jobId" />
      </div>
      <Panel title="What failed?" aside="newest first">
        <Listing
          of={failures}
          caption="Failed attempts"
          columns={COLUMNS}
          keyOf={({ id }) => id}
          none="No such failure is kept."
          hint="Failures are kept for 14 days unless the program says otherwise."
          told={(rows) => plural(rows.length, "failure")}
        />
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
    <>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary class="any">{firstLine(message)}</summary>
        {isOpen && (
          <div class="form">
            <pre>{stack ?? message}</pre>
            <div class="sub any">at worker {worker}, with this payload:</div>
            <pre>{printExact(payload, 2)}</pre>
          </div>
        )}
      </details>
      <div class="sub">
        {category}
        {fingerprint !== null && (
          <>
            {" · "}
            <a href={href(["dead-letters"], { fault: fingerprint })}>its fault</a>
          </>
        )}
      </div>
    </>
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
