/** A file is dropped or chosen, looked up in the manifest, and sent: for a dry run first, if one likes. */
import { useRef, useState } from "preact/hooks";
import { ApiError } from "../../api/api-error.ts";
import { api } from "../../api/client.ts";
import type { ImportTypes } from "../../api/imports.ts";
import { Panel } from "../../components/panel.tsx";
import { go, href } from "../../state/router.ts";
import { tell } from "../../state/toasts.ts";
import { bytes } from "../../text/numbers.ts";

interface UploadPanelProps {
  /** Null: not known yet. */
  readonly known: ImportTypes | null;
  readonly onTaken: () => void;
}

interface Refusal {
  readonly message: string;
  /** The import that had the same content. */
  readonly before: string | null;
}

export function UploadPanel({ known, onTaken }: UploadPanelProps) {
  const [file, setFile] = useState<File | null>(null);
  const [isOver, setOver] = useState(false);
  const [busy, setBusy] = useState<"dry" | "real" | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const entry = file && known ? (known.manifest[file.name] ?? null) : null;
  const isUnknown = file !== null && known !== null && entry === null;

  const choose = (chosen: File | null) => {
    setFile(chosen);
    setRefusal(null);
  };
  const send = async (sent: File, isDryRun: boolean) => {
    setBusy(isDryRun ? "dry" : "real");
    setRefusal(null);
    try {
      const { jobId } = await api.imports.upload(sent, { isDryRun });
      tell(isDryRun ? "The dry run has begun." : "The import has begun.");
      onTaken();
      go(href(["imports", jobId]));
    } catch (error) {
      const before = error instanceof ApiError ? error.jobId : null;
      setRefusal({ message: error instanceof Error ? error.message : String(error), before });
    }
    setBusy(null);
  };
  return (
    <Panel title="Import a file" aside="xlsx or csv" isPadded>
      <div
        class={`drop${isOver ? " is-over" : ""}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          choose(event.dataTransfer?.files[0] ?? null);
        }}
      >
        <input
          ref={chooser}
          class="unseen"
          type="file"
          tabIndex={-1}
          accept=".xlsx,.csv"
          aria-label="File to import"
          onChange={(event) => choose(event.currentTarget.files?.[0] ?? null)}
        />
        {file === null ? (
          <span class="soft">Drop a file here, or</span>
        ) : (
          <span class="any">
            <b>{file.name}</b>
            <span class="sub"> {bytes(file.size)}</span>
          </span>
        )}
        <button type="button" class="btn small" onClick={() => chooser.current?.click()}>
          {file === null ? "Choose a file" : "Another one"}
        </button>
      </div>
      {entry !== null && (
        <p class="soft any">
          Imported as <b>{entry.type}</b>
          {entry.sheetName !== undefined && `, from the sheet ${entry.sheetName}`}.
        </p>
      )}
      {isUnknown && (
        <p class="error any" role="alert">
          The manifest does not name {file.name}: give the file one of the names below, or add it.
        </p>
      )}
      {refusal !== null && (
        <p class="error any" role="alert">
          {refusal.message}{" "}
          {refusal.before !== null && (
            <a href={href(["imports", refusal.before])}>Show that import</a>
          )}
        </p>
      )}
      <div class="row">
        <button
          type="button"
          class="btn"
          disabled={file === null || isUnknown || busy !== null}
          onClick={() => file && void send(file, true)}
        >
          {busy === "dry" ? "Sending …" : "Dry run"}
        </button>
        <button
          type="button"
          class="btn p"
          disabled={file === null || isUnknown || busy !== null}
          onClick={() => file && void send(file, false)}
        >
          {busy === "real" ? "Sending …" : "Import"}
        </button>
        <span class="sub">A dry run reads and checks every row, and writes nothing.</span>
      </div>
    </Panel>
  );
}
