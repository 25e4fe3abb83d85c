/** Faults first, then jobs, with the replay beside them. */
import { useEffect } from "preact/hooks";
import { api } from "../../api/client.ts";
import { Panel } from "../../components/panel.tsx";
import { Segments } from "../../components/segments.tsx";
import { Content, Empty } from "../../components/states.tsx";
import { useLive } from "../../state/live.ts";
import { href, setParams, usePlace } from "../../state/router.ts";
import { useMay, useMe } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { cappedCount, plural } from "../../text/numbers.ts";
import type { PageProps } from "../pages.ts";
import { DeadJobs } from "./dead-jobs.tsx";
import { FaultDecision } from "./fault-decision.tsx";
import { FaultsTable } from "./faults-table.tsx";
import { ReplayPanel } from "./replay-panel.tsx";
import { RunningReplays } from "./running-replays.tsx";

const GROUPS_EVERY_MS = 10_000;
/** More rows than that take a browser longer to draw than a hand notices; the rest comes when it is asked for. */
const FEW = 50;
const MANY = 200;

export function DeadLettersPage(_: PageProps) {
  const { params } = usePlace();
  const me = useMe();
  const mayOperate = useMay("operator");
  const { overview } = useLive();
  const fault = params["fault"] ?? "";
  const all = params["all"] === "true";
  const queue = params["queue"] ?? (me.queues?.length === 1 ? (me.queues[0] ?? "") : "");
  const needsQueue = me.queues !== null && queue === "";
  const most = params["many"] === "true" ? MANY : FEW;
  const groups = useLoad(
    needsQueue ? null : JSON.stringify({ queue, all, most }),
    (signal) => api.dead.groups({ queue, all: all ? true : null, limit: most }, signal),
    GROUPS_EVERY_MS,
  );
  const found = groups.data?.items.find(({ fingerprint }) => fingerprint === fault) ?? null;
  const isCut = groups.data?.items.length === most;
  // A link to a fault leads to it, also if it is a rare one.
  const isFurther = fault !== "" && found === null && isCut && most === FEW;
  useEffect(() => {
    if (isFurther) setParams({ many: "true" }, { isReplacing: true });
  }, [isFurther]);
  const dead = overview?.totals.dead ?? null;
  const queues = (overview?.queues ?? []).filter((one) => one.dead > 0).map((one) => one.queue);
  return (
    <>
      <div class="say">
        <h1>Dead letters</h1>
        <p class="soft">
          {dead !== null && `${cappedCount(dead)} ${dead === 1 ? "job" : "jobs"}`}
          {groups.data &&
            `, ${isCut ? "at least " : ""}${plural(groups.data.items.length, "fault")}`}
        </p>
      </div>
      <div class="row">
        <Segments
          label="Which faults"
          value={all ? "all" : "open"}
          options={[
            { value: "open", text: "Open" },
            { value: "all", text: "Also resolved and ignored" },
          ]}
          onChange={(value) => setParams({ all: value === "all" ? "true" : null })}
        />
        <label class="row">
          <span class="sub">Queue</span>
          <select
            class="in"
            value={queue}
            onChange={(event) => setParams({ queue: event.currentTarget.value })}
          >
            {me.queues === null ? (
              <option value="">all</option>
            ) : (
              <option value="">choose one</option>
            )}
            {[...new Set([...queues, ...(queue === "" ? [] : [queue])])].sort().map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      </div>
      {needsQueue ? (
        <Empty title="Choose one of your queues.">
          A token of some queues looks at one at a time.
        </Empty>
      ) : (
        <div class={mayOperate ? "split" : "stack"}>
          <div class="stack">
            <Panel title="What did jobs die of?" aside="the commonest first">
              <Content of={groups}>
                {({ items }) =>
                  items.length === 0 ? (
                    <Empty title="No fault is open.">
                      A job is here once its attempts are used up, or once an error says that trying
                      again is no use.
                    </Empty>
                  ) : (
                    <>
                      <FaultsTable faults={items} chosen={fault} params={JSON.stringify(params)} />
                      {isCut && most === FEW && (
                        <div class="pager">
                          the {FEW} commonest
                          <span class="sp" />
                          <a href={href(["dead-letters"], { ...params, many: "true" })}>
                            Up to {MANY} →
                          </a>
                        </div>
                      )}
                    </>
                  )
                }
              </Content>
            </Panel>
            {found && <FaultDecision fault={found} reload={groups.reload} />}
            {fault !== "" && <DeadJobs fingerprint={fault} queue={queue} />}
          </div>
          {mayOperate && (
            <div class="stack">
              <ReplayPanel key={`${fault} ${queue}`} {...{ fingerprint: fault, found, queue }} />
              <RunningReplays />
            </div>
          )}
        </div>
      )}
    </>
  );
}
