/** What people did to it; for admins, as the audit is theirs. */
import { api } from "../../api/client.ts";
import { Panel } from "../../components/panel.tsx";
import { Content } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/texts.tsx";
import { useMe, useMay } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";

export function JobAudit({ id }: { id: string }) {
  const isAdmin = useMay("admin");
  const { role, queues } = useMe();
  const maySee = (isAdmin || role === "admin") && queues === null;
  const entries = useLoad(
    maySee ? `audit ${id}` : null,
    (signal) => api.ledger.audit({ jobId: id, limit: 20 }, signal),
    15_000,
  );
  if (!maySee || entries.data?.items.length === 0) return null;
  return (
    <Panel title="What did people do to it?">
      <Content of={entries}>
        {({ items }) => (
          <Table
            caption="Audit entries of this job"
            rows={items}
            keyOf={({ id: own }) => own}
            columns={[
              {
                title: "What",
                cell: ({ action, by, reason }) => (
                  <>
                    <b>{action}</b>
                    <div class="sub any">
                      by {by ?? "a program"}
                      {reason !== null && reason !== "" && `: “${reason}”`}
                    </div>
                  </>
                ),
              },
              { title: "When", isNumber: true, cell: ({ at }) => <Time at={at} /> },
            ]}
          />
        )}
      </Content>
    </Panel>
  );
}
