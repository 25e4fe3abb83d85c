/** What holds jobs back: rates, cooldowns and breakers, each with its state and what can be told to it. */
import { api } from "../../api/client.ts";
import type { Gate } from "../../api/types.ts";
import { Listing } from "../../components/listing.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table.tsx";
import { Name, Relative, Tag, Time } from "../../components/texts.tsx";
import { act } from "../../state/act.ts";
import { askFirst } from "../../state/questions.ts";
import { href } from "../../state/router.ts";
import { useMay } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { count, plural } from "../../text/numbers.ts";
import { duration } from "../../text/times.ts";
import type { PageProps } from "../pages.ts";
import { removeGate, setGateByForm } from "./gate-form.ts";
import { gateTone, gateWords } from "./gate-words.ts";

export function GatesPage(_: PageProps) {
  const mayForce = useMay("operator");
  const maySet = useMay("admin");
  const gates = useLoad("gates", (signal) => api.gates.list(signal), 2_000);
  const columns = [...COLUMNS, ...(mayForce ? [steering({ reload: gates.reload, maySet })] : [])];
  return (
    <>
      <div class="say">
        <h1>Gates</h1>
        <p class="soft">What a gate holds back waits, and is charged nothing.</p>
        <span class="sp" />
        {maySet && (
          <button
            type="button"
            class="btn p"
            onClick={() => void setGateByForm(null, gates.reload)}
          >
            New gate
          </button>
        )}
      </div>
      <Panel title="What holds jobs back?">
        <Listing
          of={gates}
          caption="Gates"
          columns={columns}
          keyOf={({ name }) => name}
          none="There are no gates."
          hint="A gate keeps a rate, waits after a 429, or stops calls to what is down: hf.gates.set()."
        />
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<Gate>[] = [
  {
    title: "Gate",
    cell: ({ name, targets, per }) => (
      <>
        <span class="main any">
          <Name of={name} />
        </span>
        <div class="sub any">
          {targets.length === 0 && "no queue: for calls outside of jobs"}
          {targets.map(({ queue, group }, at) => (
            <>
              {at > 0 && ", "}
              <a key={queue + group} href={href(["queues", queue])}>
                <Name of={group == null ? queue : `${queue} / ${group}`} />
              </a>
            </>
          ))}
          {per === "group" && ", each group by itself"}
        </div>
      </>
    ),
  },
  {
    title: "State",
    cell: ({ state, forced, openUntil, cooldownUntil }) => (
      <>
        <Tag tone={gateTone(state)}>{gateWords(state)}</Tag>{" "}
        {forced !== "auto" && <Tag tone="warn">forced</Tag>}
        {openUntil !== null && (
          <div class="sub">
            the first probe <Relative at={openUntil} />
          </div>
        )}
        {cooldownUntil !== null && (
          <div class="sub">
            cools down until <Time at={cooldownUntil} />
          </div>
        )}
      </>
    ),
  },
  {
    title: "Tokens",
    isNumber: true,
    isWide: true,
    cell: ({ tokens }) => (tokens === null ? "–" : count(tokens)),
  },
  {
    title: "Rate",
    isWide: true,
    cell: ({ rate }) =>
      rate.length === 0 ? (
        <span class="sub">none</span>
      ) : (
        rate.map(({ limit, perMs, burst }) => (
          <div key={`${limit} ${perMs}`} class="whole">
            {count(limit)} in {duration(perMs)}
            {burst > 0 && <span class="sub">, {count(burst)} at once</span>}
          </div>
        ))
      ),
  },
  {
    title: "Breaker",
    isWide: true,
    cell: ({ breaker, failures }) =>
      breaker === null ? (
        <span class="sub">none</span>
      ) : (
        <>
          {count(failures)} of {plural(breaker.failures, "failure")}
          <div class="sub whole">
            in {duration(breaker.withinMs)}; opens for {duration(breaker.openMs)}
          </div>
        </>
      ),
  },
];

interface Steering {
  readonly reload: () => void;
  readonly maySet: boolean;
}

function steering({ reload, maySet }: Steering): Column<Gate> {
  return {
    title: "",
    isNumber: true,
    cell: (gate) => (
      <span class="acts">
        {gate.forced === "auto" ? (
          <button type="button" class="btn small" onClick={() => void force(gate, reload)}>
            Force
          </button>
        ) : (
          <button type="button" class="btn small" onClick={() => void letDecide(gate, reload)}>
            Let it decide
          </button>
        )}
        {maySet && (
          <>
            <button
              type="button"
              class="btn small"
              onClick={() => void setGateByForm(gate, reload)}
            >
              Change
            </button>
            <button
              type="button"
              class="btn small danger"
              onClick={() => void removeGate(gate, reload)}
            >
              Remove
            </button>
          </>
        )}
      </span>
    ),
  };
}

async function force({ name, state }: Gate, reload: () => void): Promise<void> {
  const answer = await askFirst({
    title: `Force the gate ${name}?`,
    body: `It ${gateWords(state)} now. Forced, it stays so, whatever happens, until it may decide again.`,
    ...{ verb: "Force it", reason: "required", isDestructive: true },
    fields: [
      {
        ...{ name: "state", label: "It", kind: "select", value: "open" },
        options: [
          { value: "open", text: "holds everything back" },
          { value: "closed", text: "lets everything pass that its rate allows" },
        ],
      },
    ],
  });
  if (answer === null) return;
  const to = answer.fields["state"] === "closed" ? "closed" : "open";
  const words = to === "open" ? `${name} holds back.` : `${name} lets pass.`;
  if (await act(() => api.gates.force(name, { state: to, reason: answer.reason }), words)) reload();
}

async function letDecide({ name, state }: Gate, reload: () => void): Promise<void> {
  const answer = await askFirst({
    title: `Let the gate ${name} decide?`,
    body: `It ${gateWords(state)} now because it was forced. It goes by its rate and its breaker again.`,
    verb: "Let it decide",
  });
  if (answer === null) return;
  const body = { state: "auto", reason: answer.reason } as const;
  if (await act(() => api.gates.force(name, body), `${name} decides again.`)) reload();
}
