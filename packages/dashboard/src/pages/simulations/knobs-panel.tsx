/** What can be turned while simulations run: in force for every job that begins from now on. */
import { api } from "../../api/client.ts";
import type { Knobs, SimulationConfig } from "../../api/simulations.ts";
import { Panel } from "../../components/panel.tsx";
import { Content } from "../../components/states.tsx";
import { Table, type Column } from "../../components/table.tsx";
import { Tag } from "../../components/texts.tsx";
import { act } from "../../state/act.ts";
import { askUntilDone } from "../../state/ask-until-done.ts";
import { askFirst, type QuestionField } from "../../state/questions.ts";
import { useMay } from "../../state/session.ts";
import { tell } from "../../state/toasts.ts";
import type { Loaded } from "../../state/use-load.ts";
import { count } from "../../text/numbers.ts";
import {
  ACTIVITIES,
  activityFields,
  changedKnobs,
  spanText,
  winRateFields,
  type Activity,
} from "./knobs.ts";

interface KnobsPanelProps {
  /** Null: of all simulations. */
  readonly id: string | null;
  readonly of: Loaded<SimulationConfig>;
}

/** One line of the table: an activity, or the deals. */
interface Row {
  readonly type: Activity | null;
  readonly config: SimulationConfig;
}

export function KnobsPanel({ id, of }: KnobsPanelProps) {
  const maySet = useMay("admin");
  const isTurned = of.data !== null && Object.keys(of.data.overrides).length > 0;
  const aside = (
    <>
      <span>{isTurned ? "turned by hand where marked" : "as the scenario has it"}</span>
      {maySet && isTurned && (
        <button type="button" class="btn small" onClick={() => void clear(id, of.reload)}>
          Clear
        </button>
      )}
    </>
  );
  const change: Column<Row> = {
    ...{ title: "", isNumber: true },
    cell: (row) => (
      <button type="button" class="btn small" onClick={() => void turn(id, row, of.reload)}>
        Change
      </button>
    ),
  };
  return (
    <Panel title={id === null ? "How do all of them behave?" : "How does it behave?"} aside={aside}>
      <Content of={of}>
        {(config) => (
          <Table
            caption="Scenario parameters"
            rows={[...ACTIVITIES, null].map((type) => ({ type, config }))}
            keyOf={({ type }) => type ?? "deals"}
            columns={maySet ? [...COLUMNS, change] : COLUMNS}
          />
        )}
      </Content>
    </Panel>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  {
    title: "What",
    cell: ({ type, config: { params } }) =>
      type === null ? (
        <>
          <span class="main">deals</span>
          <div class="sub">of those that a scenario has</div>
        </>
      ) : (
        <>
          <span class="main">{type}</span>
          <div class="sub">{spanText(params.delaysMs[type])} after its record</div>
        </>
      ),
  },
  {
    title: "Chance",
    isNumber: true,
    cell: ({ type, config: { params, overrides } }) => (
      <Turned
        is={
          type === null ? overrides.winRate !== undefined : type in (overrides.probabilities ?? {})
        }
      >
        {type === null ? `${params.winRate} won` : String(params.probabilities[type])}
      </Turned>
    ),
  },
  {
    title: "For one record",
    ...{ isNumber: true, isWide: true },
    cell: ({ type, config: { params, overrides } }) =>
      type !== null && (
        <Turned is={type in (overrides.caps ?? {})}>{count(params.caps[type])}</Turned>
      ),
  },
  {
    title: "In all",
    isNumber: true,
    cell: ({ type, config: { params, overrides } }) => {
      if (type === null) return "";
      const budget = params.budgets[type];
      return (
        <Turned is={type in (overrides.budgets ?? {})}>
          {budget === null ? "any" : count(budget)}
        </Turned>
      );
    },
  },
];

/** Never by colour alone. */
function Turned({ is, children }: { is: boolean; children: string }) {
  return is ? <Tag tone="warn">{`${children}, by hand`}</Tag> : <>{children}</>;
}

async function turn(id: string | null, { type, config }: Row, reload: () => void): Promise<void> {
  const fields: readonly QuestionField[] =
    type === null ? winRateFields(config.params) : activityFields(config.params, type);
  const what = `${type === null ? "deals" : `${type}s`} of ${id ?? "all simulations"}`;
  const asked = {
    title: `Change ${what}`,
    body: "For every job that begins from now on, expanded or not. It stays over a restart, and is noted in the audit.",
    ...{ verb: "Change it", reason: "none" as const, fields },
  };
  const done = await askUntilDone(asked, async (answer): Promise<Knobs | "nothing"> => {
    const knobs = changedKnobs(fields, answer.fields, type);
    if (knobs === null) return "nothing";
    await api.simulations.setConfig(id, knobs);
    return knobs;
  });
  if (done === null) return;
  tell(done === "nothing" ? "Nothing was changed." : `The ${what} are changed.`);
  reload();
}

async function clear(id: string | null, reload: () => void): Promise<void> {
  const answer = await askFirst({
    title: `Clear what was turned for ${id ?? "all simulations"}?`,
    body: "Everything that is marked goes back to what the scenario says, for jobs that begin from now on.",
    ...{ verb: "Clear it", reason: "none" },
  });
  if (answer === null) return;
  const words = "It behaves as its scenario says.";
  if (await act(() => api.simulations.clearConfig(id), words)) reload();
}
