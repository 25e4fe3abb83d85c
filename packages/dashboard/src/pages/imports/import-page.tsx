/** One import: how far it is, what came of it, and which rows did not fit. */
import { addressOf, api, pathOf } from "../../api/client.ts";
import type { FailedRows, Import } from "../../api/imports.ts";
import { CopyButtons } from "../../components/copy-buttons.tsx";
import { FactsPanel, type Fact } from "../../components/facts-panel.tsx";
import { Panel } from "../../components/panel.tsx";
import { Content, Empty } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { StatusTag, Tag, Time } from "../../components/texts.tsx";
import { href } from "../../state/router.ts";
import { useLoad, type Loaded } from "../../state/use-load.ts";
import { cliText, curlText } from "../../text/copy-as.ts";
import { count, plural } from "../../text/numbers.ts";
import { duration } from "../../text/times.ts";
import { ImportBar, outcomeWords } from "./import-words.tsx";

export function ImportPage({ id }: { id: string }) {
  const found = useLoad(
    `import ${id}`,
    (signal) => api.imports.get(id, signal),
    ({ finishedAt }) => (finishedAt === null ? 1_000 : 15_000),
  );
  const isOver = found.data?.finishedAt != null;
  const rows = useLoad(
    `rows of ${id} ${isOver}`,
    (signal) => api.imports.rows(id, signal),
    isOver ? 30_000 : 2_000,
  );
  return <Content of={found}>{(one) => <OneImport one={one} rows={rows} />}</Content>;
}

function OneImport({ one, rows }: { one: Import; rows: Loaded<FailedRows> }) {
  const { id, file, status, attempts, dryRun, error } = one;
  const warnings = one.summary?.warnings ?? [];
  const isToldAbove = error !== null && status !== "succeeded";
  return (
    <div class="stack">
      <div class="say">
        <h1 class="any">{file}</h1>
        <StatusTag status={status} attempts={status === "queued" ? attempts : 0} />
        {dryRun && <Tag>dry run</Tag>}
        <span class="sub mono any">{id}</span>
      </div>
      {isToldAbove && (
        <div class={`why${status === "dead" ? " bad" : ""}`}>
          <b>{status === "dead" ? "Why did it end?" : "Why is it not done?"}</b>
          <div class="any">{error}</div>
          <a href={href(["jobs", id])}>Its job</a> has the whole story, and can be retried there.
        </div>
      )}
      <div class="split">
        <div class="stack">
          <Panel
            title={one.finishedAt === null ? "How far is it?" : "What came of it?"}
            aside={dryRun ? "nothing was written" : undefined}
            isPadded
          >
            <ImportBar of={one} />
            {/* Why it has none stands above already. */}
            <div class="any">{isToldAbove ? "No row has come of it." : outcomeWords(one)}</div>
          </Panel>
          <FailedRowsPanel id={id} rows={rows} isOver={one.finishedAt !== null} />
          {warnings.length > 0 && (
            <Panel title="What else should be known?" aside={plural(warnings.length, "warning")}>
              <RowsTable caption="Warnings" rows={warnings} />
            </Panel>
          )}
        </div>
        <div class="stack">
          <Facts one={one} />
          <CopyButtons
            cli={cliText(["job", id])}
            curl={curlText(addressOf(`imports/${encodeURIComponent(id)}`))}
          />
        </div>
      </div>
    </div>
  );
}

interface FailedRowsProps {
  readonly id: string;
  readonly rows: Loaded<FailedRows>;
  readonly isOver: boolean;
}

function FailedRowsPanel({ id, rows, isOver }: FailedRowsProps) {
  const total = rows.data?.total ?? 0;
  const shown = rows.data?.items.length ?? 0;
  const aside = total > 0 && (
    <>
      <span>{total > shown ? `the first ${count(shown)} of ${count(total)}` : count(total)}</span>
      <a class="btn small" href={pathOf(`imports/${encodeURIComponent(id)}/errors`)} download>
        Download CSV
      </a>
    </>
  );
  return (
    <Panel title="Which rows failed?" aside={aside}>
      <Content of={rows}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={isOver ? "None." : "None so far."}>
              A row that breaks its schema or has no key stands here, by its number in the sheet.
            </Empty>
          ) : (
            <RowsTable caption="Failed rows" rows={items} />
          )
        }
      </Content>
    </Panel>
  );
}

function RowsTable({ caption, rows }: { caption: string; rows: FailedRows["items"] }) {
  return (
    <Table
      caption={caption}
      rows={rows.map((one, place) => ({ ...one, place }))}
      keyOf={({ place }) => String(place)}
      columns={[
        { title: "Row", isNumber: true, cell: ({ row }) => (row === 0 ? "–" : count(row)) },
        { title: "Why", cell: ({ reason }) => <span class="any">{reason}</span> },
      ]}
    />
  );
}

function Facts({ one }: { one: Import }) {
  const { id, type, attempts, createdAt, startedAt, finishedAt, summary } = one;
  const took =
    startedAt === null || finishedAt === null
      ? null
      : duration(Date.parse(finishedAt) - Date.parse(startedAt));
  const facts: readonly Fact[] = [
    ["Type", <span class="mono">{type}</span>],
    ["Sent", <Time at={createdAt} />],
    startedAt === null ? null : ["Started", <Time at={startedAt} />],
    finishedAt === null ? null : ["Finished", <Time at={finishedAt} />],
    took === null ? null : ["Took", took],
    ["Attempts", count(attempts)],
    summary === null || summary.replaced === 0
      ? null
      : ["Replaced", `${plural(summary.replaced, "row")} by a later one of the same key`],
    [
      "Job",
      <a class="mono any" href={href(["jobs", id])}>
        {id}
      </a>,
    ],
  ];
  return <FactsPanel facts={facts} />;
}
