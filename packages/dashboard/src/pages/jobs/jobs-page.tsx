/** Find jobs, look at them, do something to some or to all of them. */
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { Panel } from "../../components/panel.tsx";
import { Pager } from "../../components/pager.tsx";
import { Segments } from "../../components/segments.tsx";
import { Content, Empty } from "../../components/states.tsx";
import { currentTime } from "../../state/clock.ts";
import { useKeys } from "../../state/keys.ts";
import { go, href, usePlace } from "../../state/router.ts";
import { useMay } from "../../state/session.ts";
import { plural } from "../../text/numbers.ts";
import { parseJobQuery, qualifierOf, withQualifier } from "../../text/job-query.ts";
import { JobPage } from "../job/job-page.tsx";
import type { PageProps } from "../pages.ts";
import { AllMatching } from "./all-matching.tsx";
import { enqueueByForm } from "./enqueue-form.ts";
import { ExportButtons } from "./export-buttons.tsx";
import { JobsTable } from "./jobs-table.tsx";
import { SelectionBar } from "./selection-bar.tsx";
import { useFreshList } from "./use-fresh-list.ts";

const STANDINGS = [
  { value: "", text: "All" },
  { value: "waiting", text: "Ready" },
  { value: "delayed", text: "Due later" },
  { value: "processing", text: "Running" },
  { value: "succeeded", text: "Succeeded" },
  { value: "dead", text: "Dead" },
  { value: "cancelled", text: "Cancelled" },
] as const;

const FRESH_EVERY_MS = 5_000;

export function JobsPage({ path }: PageProps) {
  const [id] = path;
  return id === undefined ? <JobsList /> : <JobPage id={id} />;
}

function JobsList() {
  const { params } = usePlace();
  const text = params["q"] ?? "";
  const cursor = params["cursor"] ?? "";
  const order = params["order"] === "oldest" ? "oldest" : "newest";
  const mayOperate = useMay("operator");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  // "2h" is two hours before the first page was asked for, on every page of its answer: a tab may be open for days.
  const askedAt = useRef(currentTime());
  const { query, problems } = parseJobQuery(text, askedAt.current);
  const key = JSON.stringify({ text, order, cursor });
  // Nothing is done to a job that is not shown any more.
  useEffect(() => setChosen(new Set()), [key]);
  const list = useFreshList(
    key,
    (signal) => {
      if (cursor === "") askedAt.current = currentTime();
      const asked = parseJobQuery(text, askedAt.current).query;
      return api.jobs.list({ ...asked, order, cursor, limit: 50 }, signal);
    },
    cursor === "" && order === "newest" ? FRESH_EVERY_MS : null,
  );
  useKeys(
    [{ keys: "n", does: "Enqueue a job", run: () => void (mayOperate && enqueueByForm()) }],
    [mayOperate],
  );
  const selected = (list.data?.items ?? []).filter(({ id }) => chosen.has(id));
  const status = qualifierOf(text, "status") ?? "";
  const standing = STANDINGS.find(({ value }) => value === status)?.value ?? "";
  const show = (q: string) => go(href(["jobs"], { q, order: order === "oldest" ? order : null }));

  return (
    <>
      <div class="say">
        <h1>Jobs</h1>
        <p class="soft any">{text === "" ? "All of them" : <code>{text}</code>}</p>
        <span class="sp" />
        <span class="acts">
          {mayOperate && (
            <button type="button" class="btn" onClick={() => void enqueueByForm()}>
              Enqueue a job
            </button>
          )}
        </span>
      </div>
      <div class="row">
        <Segments
          label="Where they stand"
          value={standing}
          options={STANDINGS}
          onChange={(value) => show(withQualifier(text, "status", value === "" ? null : value))}
        />
        <Segments
          label="Order"
          value={order}
          options={[
            { value: "newest", text: "Newest first" },
            { value: "oldest", text: "Oldest first" },
          ]}
          onChange={(value) =>
            go(href(["jobs"], { q: text, order: value === "oldest" ? value : null }))
          }
        />
      </div>
      {problems.length > 0 && (
        <div class="why" role="alert">
          {problems.join(" ")} The rest of what you typed is looked for.
        </div>
      )}
      {selected.length > 0 && (
        <SelectionBar
          jobs={selected}
          clear={() => setChosen(new Set())}
          done={() => {
            setChosen(new Set());
            list.reload();
          }}
        />
      )}
      <Panel
        title={order === "newest" ? "Newest first" : "Oldest first"}
        aside={
          <>
            {list.fresh + list.older > 0 && (
              <button type="button" class="btn small" onClick={list.takeFresh}>
                {[
                  list.fresh > 0 ? `+${list.fresh} new` : "",
                  list.older > 0 ? `${list.older} may have changed` : "",
                ]
                  .filter(Boolean)
                  .join(", ")}
              </button>
            )}
            <ExportButtons query={{ ...query, order }} text={text} />
          </>
        }
      >
        <Content of={list}>
          {({ items, nextCursor }) =>
            items.length === 0 && nextCursor === null ? (
              <Empty title="No job fits.">
                {text === ""
                  ? "Nothing was enqueued yet, or what was has been kept long enough."
                  : "Finished jobs are kept for as long as their queue says; a filter sees those that are still there."}
              </Empty>
            ) : (
              <>
                <JobsTable
                  jobs={items}
                  selection={mayOperate ? { chosen, change: setChosen } : undefined}
                />
                {items.length === 0 && (
                  <Empty title="None in the part that was looked through.">
                    Words in error messages are looked for job by job. Go on to look further.
                  </Empty>
                )}
                <Pager nextCursor={nextCursor} next={items.length < 50 ? "Look further" : "More"}>
                  {plural(items.length, "job")} of those that are kept
                  {nextCursor !== null && items.length < 50
                    ? ", in the part that was looked through"
                    : ""}
                </Pager>
              </>
            )
          }
        </Content>
      </Panel>
      {mayOperate && text !== "" && <AllMatching text={text} />}
    </>
  );
}
