/** How far an import is, in one line and in one bar. */
import type { Import } from "../../api/imports.ts";
import { Bar } from "../../components/bar.tsx";
import { count, plural } from "../../text/numbers.ts";

export function outcomeWords({ status, summary, progress, error, dryRun }: Import): string {
  if (summary !== null) {
    const { totalRows, inserted, updated, failed } = summary;
    const would = dryRun ? "would be " : "";
    const parts = [
      inserted > 0 ? `${count(inserted)} ${would}inserted` : "",
      updated > 0 ? `${count(updated)} ${would}updated` : "",
      failed > 0 ? `${count(failed)} failed` : "",
    ].filter(Boolean);
    return `${plural(totalRows, "row")}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`;
  }
  if (status === "processing") {
    return progress === null ? "it begins" : `${progress.percent} % ${progress.message ?? ""}`;
  }
  if (status === "queued") return error === null ? "it waits for a worker" : `again soon: ${error}`;
  return error ?? "it was cancelled";
}

export function ImportBar({ of: { summary, progress } }: { of: Import }) {
  if (summary === null) {
    const percent = progress?.percent ?? 0;
    return <Bar label="Progress" of={100} parts={[{ tone: "wait", value: percent }]} />;
  }
  const { totalRows, inserted, updated, failed } = summary;
  return (
    <Bar
      label={`${totalRows} rows: ${inserted} inserted, ${updated} updated, ${failed} failed`}
      of={totalRows}
      parts={[
        { tone: "ok", value: inserted },
        { tone: "wait", value: updated },
        { tone: "bad", value: failed },
      ]}
    />
  );
}
