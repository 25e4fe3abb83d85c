/** What activities may still be made, and what is on its way. */
import type { SimulationMetrics } from "../../api/simulations.ts";
import { Panel } from "../../components/panel.tsx";
import { Content } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import type { Loaded } from "../../state/use-load.ts";
import { count } from "../../text/numbers.ts";

export function Budgets({ of }: { of: Loaded<SimulationMetrics> }) {
  return (
    <Panel title="What may it still do?" aside="budgets of activities">
      <Content of={of}>
        {({ budgets, counters }) => (
          <Table
            caption="Budgets"
            rows={Object.entries(budgets).map(([type, budget]) => ({ type, ...budget }))}
            keyOf={({ type }) => type}
            columns={[
              { title: "Activity", cell: ({ type }) => type },
              {
                title: "Done",
                isNumber: true,
                cell: ({ type }) => count(counters[`${type}s_executed`] ?? 0),
              },
              { title: "Reserved", isNumber: true, cell: ({ reserved }) => count(reserved) },
              {
                title: "Left",
                isNumber: true,
                cell: ({ left, limit }) =>
                  left === null ? (
                    <span class="sub">any</span>
                  ) : (
                    `${count(left)} of ${count(limit ?? 0)}`
                  ),
              },
            ]}
          />
        )}
      </Content>
    </Panel>
  );
}
