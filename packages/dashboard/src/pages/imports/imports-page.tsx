/** Spreadsheets in: send one, see how far it is, and what became of all of them. */
import { api } from "../../api/client.ts";
import type { Import } from "../../api/imports.ts";
import { Listing } from "../../components/listing.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table.tsx";
import { StatusTag, Tag, Time } from "../../components/texts.tsx";
import { href, useParam } from "../../state/router.ts";
import { useMay } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { plural } from "../../text/numbers.ts";
import type { PageProps } from "../pages.ts";
import { ImportPage } from "./import-page.tsx";
import { ImportBar, outcomeWords } from "./import-words.tsx";
import { KnownFiles } from "./known-files.tsx";
import { UploadPanel } from "./upload-panel.tsx";

const PER_PAGE = 20;

export function ImportsPage({ path }: PageProps) {
  const [id] = path;
  return id === undefined ? <ImportsList /> : <ImportPage id={id} />;
}

function ImportsList() {
  const cursor = useParam("cursor");
  const mayImport = useMay("operator");
  const known = useLoad("import types", (signal) => api.imports.types(signal), 30_000);
  const list = useLoad(
    `imports ${cursor}`,
    (signal) => api.imports.list({ limit: PER_PAGE, cursor }, signal),
    1_500,
  );
  return (
    <>
      <div class="say">
        <h1>Imports</h1>
        <p class="soft">
          Each row of a sheet is inserted, or updated by its key. A row that does not fit is told,
          and stops no other.
        </p>
      </div>
      <div class="split">
        <Panel title="What was imported?" aside="newest first">
          <Listing
            of={list}
            caption="Imports"
            columns={COLUMNS}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => href(["imports", id])}
            none="Nothing was imported yet."
            hint={
              mayImport
                ? "Send a file, or use holdfast import FILE."
                : "An operator sends files here, or with holdfast import FILE."
            }
            told={(rows) => plural(rows.length, "import")}
          />
        </Panel>
        <div class="stack">
          {mayImport && <UploadPanel known={known.data} onTaken={list.reload} />}
          <KnownFiles of={known} />
        </div>
      </div>
    </>
  );
}

const COLUMNS: readonly Column<Import>[] = [
  {
    title: "File",
    cell: ({ id, file, type, dryRun }) => (
      <>
        <a class="main any whole" href={href(["imports", id])}>
          {file}
        </a>
        <div class="sub any">
          {type}
          {dryRun && (
            <>
              {" "}
              <Tag>dry run</Tag>
            </>
          )}
        </div>
      </>
    ),
  },
  {
    title: "State",
    cell: ({ status, attempts }) => (
      <StatusTag status={status} attempts={status === "queued" ? attempts : 0} />
    ),
  },
  {
    title: "What came of it",
    isWide: true,
    cell: (one) => (
      <>
        {one.status === "processing" && <ImportBar of={one} />}
        <span class={one.status === "dead" ? "any two-lines" : "any"}>{outcomeWords(one)}</span>
      </>
    ),
  },
  { title: "Sent", isNumber: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];
