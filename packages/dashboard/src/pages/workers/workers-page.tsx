/** Every live worker: what it runs now, and how its process fares. */
import { api } from "../../api/client.ts";
import type { Worker } from "../../api/types.ts";
import { Listing } from "../../components/listing.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table.tsx";
import { Age, Tag } from "../../components/texts.tsx";
import { act } from "../../state/act.ts";
import { askFirst } from "../../state/questions.ts";
import { href } from "../../state/router.ts";
import { useMay, useMe } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { bytes, count, plural } from "../../text/numbers.ts";
import { duration } from "../../text/times.ts";
import type { PageProps } from "../pages.ts";

const SHOWN = 3;
/** A worker may take thousands; a hundred of those would be a page that no browser draws in time. */
const MOST_QUEUES = 12;
/** Above this a process is busy with something else than jobs. */
const LATE_MS = 100;

export function WorkersPage(_: PageProps) {
  const mayTell = useMay("operator");
  const { queues } = useMe();
  const workers = useLoad("workers", (signal) => api.workers.list(signal), 3_000);
  const items = workers.data?.items ?? [];
  const active = items.reduce((sum, one) => sum + one.active, 0);
  const slots = items.reduce((sum, one) => sum + one.slots, 0);
  return (
    <>
      <div class="say">
        <h1>Workers</h1>
        {workers.data && (
          <p class="soft">
            {plural(items.length, "worker")} alive, {count(active)} of {plural(slots, "slot")} busy
          </p>
        )}
      </div>
      <Panel title="What does each run now?">
        <Listing
          of={workers}
          caption="Workers"
          columns={mayTell ? [...COLUMNS, steering(workers.reload, queues)] : COLUMNS}
          keyOf={({ id }) => id}
          none="No worker is alive."
          hint="Jobs wait until one is: start it with hf.work(), or with holdfast work."
        />
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<Worker>[] = [
  {
    title: "Worker",
    cell: ({ id, host, pid, version, isQuiet }) => (
      <>
        <span class="main any whole" title={id}>
          {host} <span class="sub">process {pid}</span>
        </span>{" "}
        {isQuiet && <Tag tone="warn">quiet</Tag>}
        <div class="sub any">{version === null ? "no version" : `version ${version}`}</div>
      </>
    ),
  },
  {
    title: "Runs now",
    cell: ({ running, active }) => (
      <>
        {running.slice(0, SHOWN).map(({ id, type }) => (
          <div key={id}>
            <a class="mono any whole" href={href(["jobs", id])}>
              {type}
            </a>
          </div>
        ))}
        {active > SHOWN && <div class="sub">and {count(active - SHOWN)} more</div>}
        {active === 0 && <span class="sub">nothing</span>}
      </>
    ),
  },
  {
    title: "Queues",
    isWide: true,
    cell: ({ queues, types }) => (
      <>
        <span class="any">{queues.slice(0, MOST_QUEUES).join(", ")}</span>
        {queues.length > MOST_QUEUES && (
          <div class="sub">and {plural(queues.length - MOST_QUEUES, "more queue")}</div>
        )}
        <div class="sub">{plural(types.length, "type")}</div>
      </>
    ),
  },
  {
    title: "Busy",
    isNumber: true,
    cell: ({ active, slots }) => `${count(active)} of ${count(slots)}`,
  },
  {
    title: "Loop late by",
    isNumber: true,
    isWide: true,
    cell: ({ loopDelayMs }) =>
      loopDelayMs === null ? (
        "–"
      ) : (
        <span class={loopDelayMs > LATE_MS ? "warn" : ""}>{duration(loopDelayMs)}</span>
      ),
  },
  {
    title: "Memory",
    isNumber: true,
    isWide: true,
    cell: ({ memoryBytes }) => (memoryBytes === null ? "–" : bytes(memoryBytes)),
  },
  {
    title: "Up for",
    isNumber: true,
    isWide: true,
    cell: ({ startedAt }) => <Age at={startedAt} />,
  },
];

/** A worker is told what to do by those who see all of its queues. */
function steering(reload: () => void, own: readonly string[] | null): Column<Worker> {
  return {
    title: "",
    isNumber: true,
    cell: (worker) =>
      (own === null || worker.queues.every((queue) => own.includes(queue))) && (
        <button type="button" class="btn small" onClick={() => void steer(worker, reload)}>
          {worker.isQuiet ? "Resume" : "Quiet"}
        </button>
      ),
  };
}

async function steer({ id, host, pid, active, isQuiet }: Worker, reload: () => void) {
  const answer = await askFirst({
    title: `${isQuiet ? "Resume" : "Quiet"} the worker of ${host}, process ${pid}?`,
    body: isQuiet
      ? "It leases jobs again."
      : `It leases nothing more until it is resumed. ${plural(active, "job")} that it runs ${active === 1 ? "goes" : "go"} on.`,
    verb: isQuiet ? "Resume it" : "Quiet it",
  });
  if (answer === null) return;
  const verb = isQuiet ? "resume" : "quiet";
  const done = isQuiet ? "It leases again." : "It is quiet: what it runs goes on.";
  if (await act(() => api.workers.tell(id, verb, { reason: answer.reason }), done)) reload();
}
