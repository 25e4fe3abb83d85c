/** Who did what, when and why; also what was refused. */
import { api } from "../../api/client.ts";
import type { AuditEntry } from "../../api/types.ts";
import { FilterChoice, FilterText } from "../../components/filters.tsx";
import { Listing } from "../../components/listing.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table.tsx";
import { Tag, Time } from "../../components/texts.tsx";
import { href, usePlace } from "../../state/router.ts";
import { useLoad } from "../../state/use-load.ts";
import { printExact } from "../../text/exact-json.ts";
import { plural } from "../../text/numbers.ts";
import type { PageProps } from "../pages.ts";

const PER_PAGE = 50;

export function AuditPage(_: PageProps) {
  const { params } = usePlace();
  const { state = "", queue = "", cursor = "" } = params;
  const entries = useLoad(
    JSON.stringify({ state, queue, cursor }),
    (signal) => api.ledger.audit({ state, queue, cursor, limit: PER_PAGE }, signal),
    10_000,
  );
  return (
    <>
      <div class="say">
        <h1>Audit</h1>
        <p class="soft">Every write, by a person or a program, and every one that was refused.</p>
      </div>
      <div class="row">
        <FilterChoice
          label="State"
          param="state"
          options={[
            { value: "", text: "All" },
            { value: "done", text: "Done" },
            { value: "asked", text: "Asked" },
            { value: "refused", text: "Refused" },
          ]}
        />
        <FilterText label="Queue" param="queue" />
      </div>
      <Panel title="What was done?" aside="newest first">
        <Listing
          of={entries}
          caption="Audit entries"
          columns={COLUMNS}
          keyOf={({ id }) => id}
          none="Nothing of this kind is noted."
          hint="What is done here, by the command line or by hf is noted with who and why."
          told={(rows) => plural(rows.length, "entry", "entries")}
        />
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    title: "What",
    cell: ({ action, queue, group, state }) => (
      <>
        <b>{action}</b> {state === "refused" && <Tag tone="bad">refused</Tag>}
        {(queue !== null || group !== null) && (
          <div class="sub any">{[queue, group].filter((one) => one !== null).join(" · ")}</div>
        )}
      </>
    ),
  },
  {
    title: "By whom, and why",
    cell: ({ by, reason }) => (
      <>
        <span class="any">{by ?? "a program"}</span>
        {reason !== null && reason !== "" && <div class="sub any">“{reason}”</div>}
      </>
    ),
  },
  {
    title: "About",
    isWide: true,
    cell: ({ jobId, type, details }) => (
      <>
        {jobId !== null && (
          <a class="mono any" href={href(["jobs", jobId])}>
            {type ?? jobId}
          </a>
        )}
        {hasDetails(details) && (
          <details>
            <summary class="sub">details</summary>
            <pre>{printExact(details, 2)}</pre>
          </details>
        )}
      </>
    ),
  },
  { title: "When", isNumber: true, cell: ({ at }) => <Time at={at} /> },
];

function hasDetails(details: unknown): boolean {
  return typeof details === "object" && details !== null && Object.keys(details).length > 0;
}
