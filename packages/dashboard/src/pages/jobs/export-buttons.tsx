/** What the filter finds, as a file: up to ten thousand jobs, page by page, without payloads in CSV. */
import { useState } from "preact/hooks";
import { addressOf, api, type Query } from "../../api/client.ts";
import type { JobListing } from "../../api/types.ts";
import { copyText, saveFile } from "../../state/copy.ts";
import { tell, tellError } from "../../state/toasts.ts";
import { cliText, curlText } from "../../text/copy-as.ts";
import { csvText } from "../../text/csv.ts";
import { printExact } from "../../text/exact-json.ts";
import { plural } from "../../text/numbers.ts";

const MOST = 10_000;
const PER_PAGE = 200;

const NAMES = [
  ...(["id", "type", "queue", "group", "status", "attempts", "maxAttempts", "priority"] as const),
  ...(["createdAt", "runAt", "startedAt", "finishedAt", "worker", "idempotencyKey"] as const),
];

export function ExportButtons({ query, text }: { query: Query; text: string }) {
  const [isBusy, setBusy] = useState(false);
  const save = async (kind: "csv" | "json") => {
    setBusy(true);
    try {
      const { jobs, isCut } = await readAll(query, kind === "json");
      const name = `jobs-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.${kind}`;
      if (kind === "json") saveFile(name, printExact(jobs), "application/json");
      else saveFile(name, asCsv(jobs), "text/csv");
      tell(`${plural(jobs.length, "job")} exported${isCut ? ": the first of more" : ""}.`);
    } catch (error) {
      tellError(error);
    }
    setBusy(false);
  };
  return (
    <span class="row">
      <button type="button" class="link" disabled={isBusy} onClick={() => void save("csv")}>
        {isBusy ? "exporting …" : "CSV"}
      </button>
      <button type="button" class="link" disabled={isBusy} onClick={() => void save("json")}>
        JSON
      </button>
      <button type="button" class="link" onClick={() => void copyText(cliOf(query), "The command")}>
        CLI
      </button>
      <button
        type="button"
        class="link"
        title={text}
        onClick={() => void copyText(curlText(addressOf("jobs", query)), "The curl line")}
      >
        curl
      </button>
    </span>
  );
}

const FLAGS: Readonly<Record<string, string>> = {
  ...{ status: "--status", queue: "--queue", type: "--type", group: "--group", tag: "--tag" },
  ...{ category: "--category", fingerprint: "--fingerprint", worker: "--worker", from: "--since" },
};

export function cliOf(query: Query): string {
  const words = Object.entries(query).flatMap(([name, value]) => {
    const flag = FLAGS[name];
    return flag === undefined || value === undefined || value === null ? [] : [flag, String(value)];
  });
  return cliText(["jobs", ...words, ...(query["order"] === "oldest" ? ["--oldest"] : [])]);
}

async function readAll(query: Query, payloads: boolean) {
  const jobs: JobListing[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof api.jobs.list>> = await api.jobs.list({
      ...{ ...query, payloads, limit: PER_PAGE, cursor },
    });
    jobs.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null && jobs.length < MOST);
  return { jobs: jobs.slice(0, MOST), isCut: cursor !== null };
}

function asCsv(jobs: readonly JobListing[]): string {
  const rows = jobs.map((job) => [...NAMES.map((name) => job[name]), job.error?.message ?? null]);
  return csvText([...NAMES, "error"], rows);
}
