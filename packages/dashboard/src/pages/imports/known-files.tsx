/** Which file is of which type: what a server takes is said before somebody tries. */
import type { ImportTypes } from "../../api/imports.ts";
import { Panel } from "../../components/panel.tsx";
import { Content, Empty } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import type { Loaded } from "../../state/use-load.ts";

export function KnownFiles({ of }: { of: Loaded<ImportTypes> }) {
  return (
    <Panel title="Which files are taken?" aside="by the manifest">
      <Content of={of}>
        {({ manifest, types, problem }) => (
          <>
            {problem !== null && (
              <div class="notice bad" role="alert">
                The manifest could not be read again, so the last one counts: {problem}
              </div>
            )}
            {Object.keys(manifest).length === 0 ? (
              <Empty title="The manifest names no file.">
                A file is taken once the manifest says its type. There are: {types.join(", ")}.
              </Empty>
            ) : (
              <Table
                caption="Files that are taken"
                rows={Object.entries(manifest).map(([name, entry]) => ({ name, ...entry }))}
                keyOf={({ name }) => name}
                columns={[
                  {
                    title: "File",
                    cell: ({ name, sheetName }) => (
                      <>
                        <span class="any">{name}</span>
                        {sheetName !== undefined && <div class="sub any">sheet {sheetName}</div>}
                      </>
                    ),
                  },
                  { title: "Type", cell: ({ type }) => <span class="mono any">{type}</span> },
                ]}
              />
            )}
          </>
        )}
      </Content>
    </Panel>
  );
}
