import type { Simulation } from "../../api/simulations.ts";
import { Tag, type Tone } from "../../components/texts.tsx";

const TONES: Readonly<Record<Simulation["status"], Tone>> = {
  ...{ created: "idle", running: "wait", paused: "warn", completed: "ok", aborted: "idle" },
};

export function SimulationTag({ status }: Pick<Simulation, "status">) {
  return <Tag tone={TONES[status]}>{status}</Tag>;
}
