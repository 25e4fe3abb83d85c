/** One operation: what it is about, how far it is, what failed again, and how it ended. */
import { api, addressOf } from "../../api/client.ts";
import type { Operation } from "../../api/types.ts";
import { CopyButtons } from "../../components/copy-buttons.tsx";
import { OperationProgress } from "../../components/operation-progress.tsx";
import { Panel } from "../../components/panel.tsx";
import { Content } from "../../components/states.tsx";
import { Time } from "../../components/texts.tsx";
import { href } from "../../state/router.ts";
import { useMe } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { cliText, curlText } from "../../text/copy-as.ts";
import { printExact } from "../../text/exact-json.ts";
import { count, plural } from "../../text/numbers.ts";
import { OperationTag } from "./operation-tag.tsx";

const ENDED: readonly Operation["state"][] = ["finished", "aborted", "stopped"];

export function OperationPage({ id }: { id: string }) {
  const operation = useLoad(
    `operation ${id}`,
    (signal) => api.operations.get(id, signal),
    ({ state }) => (ENDED.includes(state) ? 15_000 : 1_000),
  );
  return (
    <Content of={operation}>
      {(found) => (
        <div class="stack">
          <div class="say">
            <h1>
              {found.action} {plural(found.of, "job")}
            </h1>
            <p class="soft">
              <OperationTag state={found.state} /> <span class="mono">{found.id}</span>
            </p>
            <span class="sp" />
            <CopyButtons
              cli={cliText(["ops", "show", found.id])}
              curl={curlText(addressOf(`operations/${found.id}`))}
            />
          </div>
          <Ending operation={found} />
          <div class="split">
            <Panel title="How far is it?" isPadded>
              <OperationProgress operation={found} reload={operation.reload} />
            </Panel>
            <Facts operation={found} />
          </div>
        </div>
      )}
    </Content>
  );
}

function Ending({ operation }: { operation: Operation }) {
  const { state, of, done, failedAgain, erased } = operation;
  if (!ENDED.includes(state)) return null;
  const left = of - done;
  const words = {
    finished: `It has dealt with ${plural(done, "job")}.`,
    aborted: `It was aborted: ${plural(left, "job")} ${left === 1 ? "is" : "are"} as before.`,
    stopped: `It stopped itself, because too many failed again: ${count(failedAgain)} of ${count(done)}. ${plural(left, "job")} ${left === 1 ? "is" : "are"} as before.`,
  }[state as "finished" | "aborted" | "stopped"];
  return (
    <div class={`why ${state === "stopped" ? "bad" : "calm"}`}>
      {words}
      {erased !== undefined &&
        ` With them went ${plural(erased.entries, "ledger entry", "ledger entries")} and ${plural(erased.locks, "lock")}.`}
    </div>
  );
}

function Facts({ operation }: { operation: Operation }) {
  const { filter, perSecond, plannedAt, startedAt, endedAt, by, reason, refused, missing } =
    operation;
  const { role, queues } = useMe();
  const seesAudit = role === "admin" && queues === null;
  return (
    <Panel title="What is it about?" isPadded>
      <dl class="facts">
        <dt>Jobs that match</dt>
        <dd>
          <code class="any">{printExact(filter, 0)}</code>
        </dd>
        <dt>By</dt>
        <dd>{by ?? "a program"}</dd>
        <dt>Why</dt>
        <dd>{reason === null || reason === "" ? "no reason was given" : reason}</dd>
        <dt>Pace</dt>
        <dd>{perSecond === null ? "as fast as it goes" : `${count(perSecond)} a second`}</dd>
        <dt>Planned</dt>
        <dd>
          <Time at={plannedAt} />
        </dd>
        <dt>Started</dt>
        <dd>
          <Time at={startedAt} />
        </dd>
        <dt>Ended</dt>
        <dd>
          <Time at={endedAt} />
        </dd>
        {refused > 0 && (
          <>
            <dt>Refused</dt>
            <dd>{count(refused)}: their state did not allow it any more</dd>
          </>
        )}
        {missing > 0 && (
          <>
            <dt>Gone</dt>
            <dd>{count(missing)}: removed before it came to them</dd>
          </>
        )}
      </dl>
      {seesAudit && (
        <p class="sub">
          <a href={href(["audit"])}>The audit</a> has its entry.
        </p>
      )}
    </Panel>
  );
}
