/** Start, pause, resume and abort, each after a question. */
import { api } from "../../api/client.ts";
import type { Simulation } from "../../api/simulations.ts";
import { act } from "../../state/act.ts";
import { askFirst, type Question } from "../../state/questions.ts";
import { useMay } from "../../state/session.ts";
import { plural } from "../../text/numbers.ts";

type Verb = "start" | "pause" | "resume" | "abort";

const OFFERED: Readonly<Record<Simulation["status"], readonly Verb[]>> = {
  created: ["start", "abort"],
  running: ["pause", "abort"],
  paused: ["resume", "abort"],
  completed: [],
  aborted: [],
};
const BUTTONS: Readonly<Record<Verb, string>> = {
  ...{ start: "Start", pause: "Pause", resume: "Resume", abort: "Abort" },
};
const DONE: Readonly<Record<Verb, string>> = {
  ...{ start: "It is started.", pause: "It is paused.", resume: "It goes on." },
  abort: "It is aborted: what waits is being cancelled.",
};

interface SteeringProps {
  readonly simulation: Simulation;
  readonly reload: () => void;
}

export function Steering({ simulation, reload }: SteeringProps) {
  const mayOperate = useMay("operator");
  if (!mayOperate || OFFERED[simulation.status].length === 0) return null;
  return (
    <span class="acts">
      {OFFERED[simulation.status].map((verb) => (
        <button
          key={verb}
          type="button"
          class={`btn${verb === "abort" ? " danger" : verb === "pause" ? "" : " p"}`}
          onClick={() => void steer(simulation, verb, reload)}
        >
          {BUTTONS[verb]}
        </button>
      ))}
    </span>
  );
}

function questionOf({ id, records, segments }: Simulation, verb: Verb): Question {
  const title = `${BUTTONS[verb]} ${id}?`;
  switch (verb) {
    case "start":
      return {
        ...{ title, verb: "Start it" },
        body: `A job expands the first of ${plural(segments, "segment")}; ${plural(records, "record")} follow by their times.`,
      };
    case "pause":
      return {
        ...{ title, verb: "Pause it" },
        body: "What runs goes on, nothing else begins. Due times stay as they are.",
      };
    case "resume":
      return { title, verb: "Resume it", body: "What became due meanwhile is due at once." };
    case "abort":
      return {
        ...{ title, verb: "Abort it", isDestructive: true, reason: "required" },
        body: "It ends for good: what waits is cancelled, and what arrives late cancels itself. What was made stays.",
      };
  }
}

async function steer(simulation: Simulation, verb: Verb, reload: () => void): Promise<void> {
  const answer = await askFirst(questionOf(simulation, verb));
  if (answer === null) return;
  const { reason } = answer;
  const told = { ...(reason !== undefined && { reason }) };
  if (await act(() => api.simulations.tell(simulation.id, verb, told), DONE[verb])) reload();
}
