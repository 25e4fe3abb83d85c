/** What is known of it. */
import type { Job } from "../../api/types.ts";
import { FactsPanel, type Fact } from "../../components/facts-panel.tsx";
import { Relative, Tag, Time } from "../../components/texts.tsx";
import { href } from "../../state/router.ts";
import { printExact } from "../../text/exact-json.ts";
import { qualifierText } from "../../text/job-query.ts";
import { duration } from "../../text/times.ts";

/** Where it comes from, and who moved it last. */
function originOf({ lineage, status }: Job): readonly Fact[] {
  const { spawnedBy, schedule, changedBy } = lineage;
  return [
    spawnedBy === null
      ? null
      : [
          "Spawned by",
          <a class="mono" href={href(["jobs", spawnedBy])}>
            {spawnedBy}
          </a>,
        ],
    schedule === null
      ? null
      : [
          "Schedule",
          <>
            <a href={href(["schedules", schedule.name])}>{schedule.name}</a>{" "}
            <span class="sub">
              tick of <Time at={schedule.tick} />
            </span>
          </>,
        ],
    changedBy === null
      ? null
      : [
          status === "cancelled" ? "Cancelled by" : "Retried by",
          <>
            {changedBy.by}
            {changedBy.operation !== null && (
              <>
                {" "}
                in <a href={href(["operations", changedBy.operation])}>an operation</a>
              </>
            )}
          </>,
        ],
  ];
}

export function Facts({ job }: { job: Job }) {
  const search = (name: string, value: string) => href(["jobs"], { q: qualifierText(name, value) });
  const first = job.history[0]?.startedAt ?? job.startedAt;
  const waited = first === null ? null : Date.parse(first) - Date.parse(job.createdAt);
  const trace = job.meta?.["trace"];
  const rows: readonly Fact[] = [
    ["Queue", <a href={href(["queues", job.queue])}>{job.queue}</a>],
    job.group === null ? null : ["Group", <a href={search("group", job.group)}>{job.group}</a>],
    ["Priority", job.priority],
    waited === null ? null : ["Waited", `${duration(waited)} before its first attempt`],
    ["Created", <Time at={job.createdAt} />],
    job.status === "queued" ? ["Due", <Relative at={job.runAt} />] : null,
    job.finishedAt === null ? null : ["Finished", <Time at={job.finishedAt} />],
    job.expiresAt === null ? null : ["Expires", <Relative at={job.expiresAt} />],
    job.worker === null
      ? null
      : ["Worker", <a href={search("worker", job.worker)}>{job.worker}</a>],
    job.leaseUntil === null ? null : ["Lease until", <Time at={job.leaseUntil} />],
    job.idempotencyKey === null ? null : ["Key", <code>{job.idempotencyKey}</code>],
    job.tags.length === 0
      ? null
      : [
          "Tags",
          <span class="row">
            {job.tags.map((tag) => (
              <a key={tag} href={search("tag", tag)}>
                <Tag>{tag}</Tag>
              </a>
            ))}
          </span>,
        ],
    ...originOf(job),
    typeof trace === "string" ? ["Trace", <code>{trace}</code>] : null,
    job.meta === null || Object.keys(job.meta).length === 0
      ? null
      : ["Meta", <pre>{printExact(job.meta)}</pre>],
    ["Failures", <a href={href(["failures"], { jobId: job.id })}>on record</a>],
  ];
  return <FactsPanel facts={rows} />;
}
