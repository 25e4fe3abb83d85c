import type { Operation } from "../../api/types.ts";
import { Tag, type Tone } from "../../components/texts.tsx";

const TONES: Readonly<Record<Operation["state"], Tone>> = {
  ...{ planned: "idle", running: "wait", settling: "wait", paused: "warn" },
  ...{ finished: "ok", aborted: "idle", stopped: "bad" },
};

export function OperationTag({ state }: Pick<Operation, "state">) {
  return <Tag tone={TONES[state]}>{state}</Tag>;
}
