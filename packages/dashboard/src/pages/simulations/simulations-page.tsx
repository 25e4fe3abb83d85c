/** Workloads spread over time: all of them, and what is turned for all. */
import { api } from "../../api/client.ts";
import type { Simulation } from "../../api/simulations.ts";
import { Listing } from "../../components/listing.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table.tsx";
import { Time } from "../../components/texts.tsx";
import { href, useParam } from "../../state/router.ts";
import { useLoad } from "../../state/use-load.ts";
import { count, plural } from "../../text/numbers.ts";
import { duration } from "../../text/times.ts";
import type { PageProps } from "../pages.ts";
import { KnobsPanel } from "./knobs-panel.tsx";
import { SimulationPage } from "./simulation-page.tsx";
import { SimulationTag } from "./simulation-tag.tsx";

export function SimulationsPage({ path }: PageProps) {
  const [id] = path;
  return id === undefined ? <SimulationsList /> : <SimulationPage id={id} />;
}

function SimulationsList() {
  const cursor = useParam("cursor");
  const list = useLoad(
    `simulations ${cursor}`,
    async (signal) => {
      const page = await api.simulations.list({ limit: 50, cursor }, signal);
      return { items: page.simulations, nextCursor: page.nextCursor };
    },
    3_000,
  );
  const config = useLoad("simulations' config", (signal) => api.simulations.config(null, signal));
  return (
    <>
      <div class="say">
        <h1>Simulations</h1>
        <p class="soft">Records made over time, by a curve. Each is due at its own moment.</p>
      </div>
      <div class="stack">
        <Panel title="Which are there?" aside="by id">
          <Listing
            of={list}
            caption="Simulations"
            columns={COLUMNS}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => href(["simulations", id])}
            none="There is no simulation."
            hint="holdfast sim start makes one, and so does pacing.create()."
            told={(rows) => plural(rows.length, "simulation")}
            next="More"
          />
        </Panel>
        <KnobsPanel id={null} of={config} />
      </div>
    </>
  );
}

const COLUMNS: readonly Column<Simulation>[] = [
  {
    title: "Simulation",
    cell: ({ id, distribution, policy }) => (
      <>
        <a class="main any" href={href(["simulations", id])}>
          {id}
        </a>
        <div class="sub">
          {distribution.shape}, {policy}
        </div>
      </>
    ),
  },
  { title: "State", cell: ({ status }) => <SimulationTag status={status} /> },
  { title: "Records", isNumber: true, cell: ({ records }) => count(records) },
  {
    title: "Lasts",
    isNumber: true,
    isWide: true,
    cell: ({ start, end }) => duration(Date.parse(end) - Date.parse(start)),
  },
  { title: "Begins", isNumber: true, isWide: true, cell: ({ start }) => <Time at={start} /> },
  { title: "Ends", isNumber: true, cell: ({ end }) => <Time at={end} /> },
];
