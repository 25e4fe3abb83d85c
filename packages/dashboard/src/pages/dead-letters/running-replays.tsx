/** Replays that run or ended lately, with what came of them. */
import { api } from "../../api/client.ts";
import { OperationProgress } from "../../components/operation-progress.tsx";
import { Panel } from "../../components/panel.tsx";
import { useLoad } from "../../state/use-load.ts";

const SHOWN = 3;

export function RunningReplays() {
  const operations = useLoad("operations", (signal) => api.operations.list(signal), 2_000);
  const replays = (operations.data?.items ?? []).filter(
    ({ action, state }) => action === "retry" && state !== "planned",
  );
  if (replays.length === 0) return null;
  return (
    <Panel title="What came of replays?" aside={<a href="#/operations">all operations</a>} isPadded>
      {replays.slice(0, SHOWN).map((operation) => (
        <OperationProgress key={operation.id} operation={operation} reload={operations.reload} />
      ))}
    </Panel>
  );
}
