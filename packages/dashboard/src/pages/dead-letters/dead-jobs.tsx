/** The jobs that died of one fault. */
import { api } from "../../api/client.ts";
import { Pager } from "../../components/pager.tsx";
import { Panel } from "../../components/panel.tsx";
import { Content, Empty } from "../../components/states.tsx";
import { href, useParam } from "../../state/router.ts";
import { useLoad } from "../../state/use-load.ts";
import { plural } from "../../text/numbers.ts";
import { qualifierText } from "../../text/job-query.ts";
import { JobsTable } from "../jobs/jobs-table.tsx";

export function DeadJobs({ fingerprint, queue }: { fingerprint: string; queue: string }) {
  const cursor = useParam("cursor");
  const jobs = useLoad(
    JSON.stringify({ fingerprint, queue, cursor }),
    (signal) => api.dead.list({ fingerprint, queue, cursor, limit: 20 }, signal),
    cursor === "" ? 15_000 : null,
  );
  const q = `status:dead ${qualifierText("fault", fingerprint)}`;
  return (
    <Panel title="Which jobs?" aside={<a href={href(["jobs"], { q })}>all of them, to select</a>}>
      <Content of={jobs}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <Empty title="None is left.">They were retried, removed, or kept long enough.</Empty>
          ) : (
            <>
              <JobsTable jobs={items} isNarrow />
              <Pager nextCursor={nextCursor}>{plural(items.length, "job")}, newest first</Pager>
            </>
          )
        }
      </Content>
    </Panel>
  );
}
