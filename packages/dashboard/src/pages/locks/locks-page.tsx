/** Execution locks: what must not run twice at once, and who has it. */
import { api } from "../../api/client.ts";
import type { Lock } from "../../api/types.ts";
import { FilterChoice, FilterText } from "../../components/filters.tsx";
import { Listing } from "../../components/listing.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table.tsx";
import { Tag, Time, type Tone } from "../../components/texts.tsx";
import { act } from "../../state/act.ts";
import { askFirst } from "../../state/questions.ts";
import { href, usePlace } from "../../state/router.ts";
import { useMay, useMe } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { plural } from "../../text/numbers.ts";
import type { PageProps } from "../pages.ts";

const PER_PAGE = 50;
const TONES: Readonly<Record<Lock["state"], Tone>> = {
  ...{ running: "wait", completed: "ok", failed: "bad" },
};

export function LocksPage(_: PageProps) {
  const { params } = usePlace();
  const { queues } = useMe();
  const mayRelease = useMay("operator") && queues === null;
  const { state = "", key = "", cursor = "" } = params;
  const locks = useLoad(
    JSON.stringify({ state, key, cursor }),
    (signal) => api.locks.list({ state, key, cursor, limit: PER_PAGE }, signal),
    5_000,
  );
  return (
    <>
      <div class="say">
        <h1>Locks</h1>
        <p class="soft">One job of a scope at a time, and what has run need not run again.</p>
      </div>
      <div class="row">
        <FilterChoice
          label="State"
          param="state"
          options={[
            { value: "", text: "All" },
            { value: "running", text: "Running" },
            { value: "completed", text: "Completed" },
            { value: "failed", text: "Failed" },
          ]}
        />
        <FilterText label="Key" param="key" />
      </div>
      <Panel title="Which scopes are locked?">
        <Listing
          of={locks}
          caption="Locks"
          columns={mayRelease ? [...COLUMNS, releasing(locks.reload)] : COLUMNS}
          keyOf={({ id }) => id}
          none="There is no such lock."
          hint="A type that is defined with a lock takes one for each scope it runs in."
          told={(rows) => plural(rows.length, "lock")}
          next="More"
        />
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<Lock>[] = [
  {
    title: "Scope",
    cell: ({ key, scope, owner, state }) => (
      <>
        <span class="main mono any">{scope}</span> <Tag tone={TONES[state]}>{state}</Tag>
        <div class="sub any">
          {key}
          {owner !== "" && ` of ${owner}`}
        </div>
      </>
    ),
  },
  {
    title: "Job",
    cell: ({ jobId, type, queue }) => (
      <>
        <a class="mono any" href={href(["jobs", jobId])}>
          {type}
        </a>
        <div class="sub">{queue}</div>
      </>
    ),
  },
  {
    title: "Since",
    isNumber: true,
    isWide: true,
    cell: ({ startedAt }) => <Time at={startedAt} />,
  },
  {
    title: "Ended",
    isNumber: true,
    isWide: true,
    cell: ({ finishedAt }) => <Time at={finishedAt} />,
  },
];

function releasing(reload: () => void): Column<Lock> {
  return {
    title: "",
    isNumber: true,
    cell: (lock) => (
      <button type="button" class="btn small danger" onClick={() => void release(lock, reload)}>
        Release
      </button>
    ),
  };
}

async function release({ id, scope, state }: Lock, reload: () => void): Promise<void> {
  const answer = await askFirst({
    title: `Release the lock of ${scope}?`,
    body:
      state === "running"
        ? "Its job still runs: another one of this scope may run beside it."
        : "The next job of this scope runs, whatever came of the last one.",
    ...{ verb: "Release it", isDestructive: true, reason: "required" },
  });
  if (answer === null) return;
  if (await act(() => api.locks.release(id, { reason: answer.reason }), "It is released."))
    reload();
}
