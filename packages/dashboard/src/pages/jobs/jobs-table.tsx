/** Jobs as rows. Payloads are not among them: those are on the page of each. */
import type { JobListing } from "../../api/types.ts";
import { Table, type Column, type Selection } from "../../components/table.tsx";
import { Name, Relative, StatusTag } from "../../components/texts.tsx";
import { href } from "../../state/router.ts";
import { firstLine } from "../overview/side-panels.tsx";

const COLUMNS: readonly Column<JobListing>[] = [
  {
    title: "Job",
    cell: (job) => (
      <>
        <a class="main mono any" href={href(["jobs", job.id])}>
          <Name of={job.type} />
        </a>
        <div class="sub mono id" title={job.id}>
          {job.id}
        </div>
      </>
    ),
  },
  {
    title: "Status",
    cell: (job) => (
      <>
        <StatusTag status={job.status} attempts={job.status === "queued" ? job.attempts : 0} />
        {job.error !== null && job.status !== "succeeded" && (
          <div class="sub any two-lines">{firstLine(job.error.message)}</div>
        )}
        {job.status === "processing" && job.progress !== null && (
          <div class="sub">{job.progress.percent} %</div>
        )}
      </>
    ),
  },
  {
    title: "Queue",
    isWide: true,
    cell: ({ queue, group }) => (
      <>
        <a class="quiet" href={href(["queues", queue])}>
          {queue}
        </a>
        {group !== null && <div class="sub any">{group}</div>}
      </>
    ),
  },
  {
    title: "Attempts",
    isNumber: true,
    isWide: true,
    cell: ({ attempts, maxAttempts }) => (
      <>
        {attempts} <span class="sub">of {maxAttempts}</span>
      </>
    ),
  },
  {
    title: "Created",
    isNumber: true,
    isWide: true,
    cell: ({ createdAt }) => <Relative at={createdAt} />,
  },
  {
    title: "When",
    isNumber: true,
    cell: (job) => (
      <>
        <Relative at={job.finishedAt ?? job.startedAt ?? job.runAt} />
        <div class="sub">
          {job.finishedAt
            ? "finished"
            : job.startedAt && job.status === "processing"
              ? "started"
              : "due"}
        </div>
      </>
    ),
  },
];

interface JobsTableProps {
  readonly jobs: readonly JobListing[];
  readonly selection?: Selection | undefined;
  /** Beside a panel: fewer columns, ids cut. */
  readonly isNarrow?: boolean;
}

const NARROW: readonly Column<JobListing>[] = [
  {
    title: "Job",
    cell: (job) => (
      <a class="main mono" href={href(["jobs", job.id])} title={job.id}>
        {job.id.slice(0, 18)}…
      </a>
    ),
  },
  { title: "Queue", isWide: true, cell: ({ queue }) => queue },
  { title: "Group", cell: ({ group }) => group ?? <span class="sub">none</span> },
  {
    title: "Attempts",
    isNumber: true,
    isWide: true,
    cell: ({ attempts, maxAttempts }) => `${attempts} of ${maxAttempts}`,
  },
  { title: "Died", isNumber: true, cell: ({ finishedAt }) => <Relative at={finishedAt} /> },
];

export function JobsTable({ jobs, selection, isNarrow = false }: JobsTableProps) {
  return (
    <Table
      caption="Jobs"
      columns={isNarrow ? NARROW : COLUMNS}
      rows={jobs}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => href(["jobs", id])}
      selection={selection}
    />
  );
}
