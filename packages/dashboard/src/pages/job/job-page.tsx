/** One job: why it is where it is, what happened to it, and what can be done. */
import { addressOf, api } from "../../api/client.ts";
import type { Job } from "../../api/types.ts";
import { CopyButtons } from "../../components/copy-buttons.tsx";
import { Content } from "../../components/states.tsx";
import { StatusTag } from "../../components/texts.tsx";
import { useLoad } from "../../state/use-load.ts";
import { cliText, curlText } from "../../text/copy-as.ts";
import { Facts } from "./facts.tsx";
import { History } from "./history.tsx";
import { JobActions } from "./job-actions.tsx";
import { JobAudit } from "./job-audit.tsx";
import { Payloads } from "./payloads.tsx";
import { WhyBox } from "./why-box.tsx";

const OPEN_EVERY_MS = 2_000;
const OVER_EVERY_MS = 15_000;

export function JobPage({ id }: { id: string }) {
  const job = useLoad(
    id,
    (signal) => api.jobs.get(id, signal),
    ({ status }) =>
      status === "queued" || status === "processing" ? OPEN_EVERY_MS : OVER_EVERY_MS,
  );
  return <Content of={job}>{(found) => <OneJob job={found} reload={job.reload} />}</Content>;
}

function OneJob({ job, reload }: { job: Job; reload: () => void }) {
  const { id, type, status, attempts } = job;
  return (
    <div class="stack">
      <div class="say">
        <h1 class="any">{type}</h1>
        <StatusTag status={status} attempts={status === "queued" ? attempts : 0} />
        <span class="sub mono any">{id}</span>
        <span class="sp" />
        <JobActions job={job} reload={reload} />
      </div>
      <WhyBox job={job} />
      <div class="split">
        <div class="stack">
          <History job={job} />
          <JobAudit id={id} />
        </div>
        <div class="stack">
          <Facts job={job} />
          <Payloads job={job} />
          <CopyButtons
            cli={cliText(["job", id])}
            curl={curlText(addressOf(`jobs/${encodeURIComponent(id)}`))}
          />
        </div>
      </div>
    </div>
  );
}
