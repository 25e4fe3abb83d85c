/** Gates of the other side. All simulations share them; they are steered on their own page. */
import { api } from "../../api/client.ts";
import { Panel } from "../../components/panel.tsx";
import { Content, Empty } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { Tag } from "../../components/texts.tsx";
import { href } from "../../state/router.ts";
import { useLoad } from "../../state/use-load.ts";
import { count } from "../../text/numbers.ts";
import { duration } from "../../text/times.ts";
import { gateTone, gateWords } from "../gates/gate-words.ts";

const OURS = "pacing:";

export function SimulationGates() {
  const gates = useLoad(
    "gates of simulations",
    async (signal) => (await api.gates.list(signal)).items.filter(isOurs),
    3_000,
  );
  return (
    <Panel
      title="What holds it back?"
      aside={<a href={href(["gates"])}>gates of all simulations</a>}
    >
      <Content of={gates}>
        {(items) =>
          items.length === 0 ? (
            <Empty title="No gate does.">A scenario's capacity makes one for each action.</Empty>
          ) : (
            <Table
              caption="Gates of simulations"
              rows={items}
              keyOf={({ name }) => name}
              hrefOf={() => href(["gates"])}
              columns={[
                { title: "Gate", cell: ({ name }) => name.slice(OURS.length) },
                {
                  title: "State",
                  cell: ({ state }) => <Tag tone={gateTone(state)}>{gateWords(state)}</Tag>,
                },
                {
                  title: "Rate",
                  isNumber: true,
                  cell: ({ rate: [first] }) =>
                    first === undefined ? (
                      <span class="sub">none</span>
                    ) : (
                      `${count(first.limit)} in ${duration(first.perMs)}`
                    ),
                },
              ]}
            />
          )
        }
      </Content>
    </Panel>
  );
}

function isOurs({ name }: { readonly name: string }): boolean {
  return name.startsWith(OURS);
}
