/** A replay, step by step: which, how fast, a dry run, then the start. Exactly what was planned is started. */
import { useState } from "preact/hooks";
import { addressOf, api } from "../../api/client.ts";
import type { FaultGroup, Plan } from "../../api/types.ts";
import { CopyButtons } from "../../components/copy-buttons.tsx";
import { Panel } from "../../components/panel.tsx";
import { PlanPreview } from "../../components/plan-preview.tsx";
import { Segments } from "../../components/segments.tsx";
import { act } from "../../state/act.ts";
import { askFirst } from "../../state/questions.ts";
import { href } from "../../state/router.ts";
import { tellError } from "../../state/toasts.ts";
import { cappedCount, plural } from "../../text/numbers.ts";
import { cliText, curlText } from "../../text/copy-as.ts";
import { duration } from "../../text/times.ts";
import { firstLine } from "../overview/side-panels.tsx";

type Strategy = "oldest" | "newest" | "random";

export function ReplayPanel({ fault, queue }: { fault: FaultGroup | null; queue: string }) {
  const [strategy, setStrategy] = useState<Strategy>("oldest");
  const [limit, setLimit] = useState("500");
  const [perSecond, setPerSecond] = useState("20");
  const [attempts, setAttempts] = useState("1");
  const [stopAt, setStopAt] = useState("50");
  const [plan, setPlan] = useState<Plan | null>(null);
  const [isBusy, setBusy] = useState(false);
  // "1,000" is no number here: read as none it would be no bound at all.
  const wrong = [limit, perSecond, stopAt].some((text) => !isWhole(text)) || Number(stopAt) > 100;
  const about = {
    ...(fault?.fingerprint != null && { fingerprint: fault.fingerprint }),
    ...(queue !== "" && { queue }),
  };
  const choice = { ...about, strategy, ...(number(limit) > 0 && { limit: number(limit) }) };
  const change = (set: (value: string) => void) => (value: string) => {
    set(value);
    setPlan(null);
  };
  const dryRun = async () => {
    setBusy(true);
    setPlan(null);
    try {
      setPlan(await api.dead.plan(choice));
    } catch (error) {
      tellError(error);
    }
    setBusy(false);
  };
  const start = async (made: Plan) => {
    const pace = number(perSecond);
    const answer = await askFirst({
      title: `Replay ${plural(made.count, "job")}?`,
      body: `They run again${pace > 0 ? `, at most ${pace} a second: in about ${duration((made.count / pace) * 1000)}` : ""}. It can be paused and aborted.`,
      verb: `Replay ${plural(made.count, "job")}`,
      reason: "required",
    });
    if (answer === null) return;
    const share = Number(stopAt) / 100;
    const started = await act(
      () =>
        api.operations.start(made.id, {
          reason: answer.reason,
          ...(pace > 0 && { perSecond: pace }),
          attempts: attempts === "full" ? "full" : Math.max(1, number(attempts)),
          ...(share > 0 && share <= 1 && { stopAtFailureRate: share }),
        }),
      "The replay has begun.",
      ({ id }) => ({ href: href(["operations", id]), text: "Watch it" }),
    );
    if (started) setPlan(null);
  };
  return (
    <Panel
      title="Run them again?"
      aside={
        <span class="cut">{fault ? firstLine(fault.message).slice(0, 40) : "every dead job"}</span>
      }
      isPadded
    >
      {fault === null && <p class="soft">Choose a fault to replay its jobs alone.</p>}
      <Segments
        label="Which first"
        value={strategy}
        options={[
          { value: "oldest", text: "Oldest" },
          { value: "newest", text: "Newest" },
          { value: "random", text: "Random" },
        ]}
        onChange={(value) => {
          setStrategy(value);
          setPlan(null);
        }}
      />
      <div class="form">
        <div class="pair">
          <NumberField
            label={fault ? `At most, of ${cappedCount(fault.count)}` : "At most"}
            value={limit}
            onChange={change(setLimit)}
          />
          <NumberField label="Jobs per second" value={perSecond} onChange={setPerSecond} />
          <label class="field">
            Attempts of each
            <select
              class="in"
              value={attempts}
              onChange={(event) => setAttempts(event.currentTarget.value)}
            >
              <option value="1">one</option>
              <option value="3">three</option>
              <option value="full">as its contract gives</option>
            </select>
          </label>
          <NumberField label="Stop at % failed again" value={stopAt} onChange={setStopAt} />
        </div>
      </div>
      {wrong && (
        <p class="error" role="alert">
          Numbers are written in digits alone, a share up to 100. Empty: no bound.
        </p>
      )}
      {plan && (
        <PlanPreview plan={plan}>
          {plan.count > 0 && (
            <button type="button" class="btn p" disabled={wrong} onClick={() => void start(plan)}>
              Replay {plural(plan.count, "job")} …
            </button>
          )}
        </PlanPreview>
      )}
      <div class="row">
        {plan === null && (
          <button
            type="button"
            class="btn p"
            disabled={isBusy || wrong}
            onClick={() => void dryRun()}
          >
            {isBusy ? "Looking …" : "Dry run"}
          </button>
        )}
        <CopyButtons
          cli={cliText([
            ...["dead", "replay", ...(fault?.fingerprint != null ? [fault.fingerprint] : [])],
            ...(queue === "" ? [] : ["--queue", queue]),
            ...["--strategy", strategy],
            ...(number(limit) > 0 ? ["--limit", limit.trim()] : []),
            ...(number(perSecond) > 0 ? ["--per-second", perSecond.trim()] : []),
            "--dry-run",
          ])}
          curl={curlText(addressOf("dead-letters/plan"), { method: "POST", body: choice })}
        />
      </div>
    </Panel>
  );
}

/** Empty: no bound. */
function isWhole(text: string): boolean {
  return /^\d{0,6}$/.test(text.trim());
}

function number(text: string): number {
  return Number(text.trim());
}

interface NumberFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function NumberField({ label, value, onChange }: NumberFieldProps) {
  return (
    <label class="field">
      {label}
      <input
        class="in"
        inputMode="numeric"
        aria-invalid={!isWhole(value)}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
