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

interface ReplayPanelProps {
  /** Of the fault in the address; empty: every dead job. */
  readonly fingerprint: string;
  /** What is known of that fault. Null: the list has not come, or has it no more; it is meant all the same. */
  readonly found: FaultGroup | null;
  readonly queue: string;
}

export function ReplayPanel({ fingerprint, found, queue }: ReplayPanelProps) {
  const [strategy, setStrategy] = useState<Strategy>("oldest");
  const [limit, setLimit] = useState("500");
  const [perSecond, setPerSecond] = useState("20");
  const [attempts, setAttempts] = useState("1");
  const [stopAt, setStopAt] = useState("50");
  const [made, setMade] = useState<{ readonly of: string; readonly plan: Plan } | null>(null);
  const [isBusy, setBusy] = useState(false);
  // "1,000" is no number here: read as none it would be no bound at all.
  const wrong = [limit, perSecond, stopAt].some((text) => !isWhole(text)) || Number(stopAt) > 100;
  const about = {
    ...(fingerprint !== "" && { fingerprint }),
    ...(queue !== "" && { queue }),
  };
  const choice = { ...about, strategy, ...(number(limit) > 0 && { limit: number(limit) }) };
  const asked = JSON.stringify(choice);
  // A plan that comes late may be of another choice: what is shown is of this one.
  const plan = made?.of === asked ? made.plan : null;
  const what = fingerprint === "" ? "every dead job" : firstLine(found?.message ?? fingerprint);
  const whose = `${fingerprint === "" ? "Jobs of every fault" : `Jobs that died of “${what}”`}${queue === "" ? "" : ` in ${queue}`}`;
  const dryRun = async () => {
    setBusy(true);
    try {
      setMade({ of: asked, plan: await api.dead.plan(choice) });
    } catch (error) {
      tellError(error);
    }
    setBusy(false);
  };
  const start = async ({ id, count }: Plan) => {
    const pace = number(perSecond);
    const answer = await askFirst({
      title: `Replay ${plural(count, "job")}?`,
      body: `${whose} run again${pace > 0 ? `, at most ${pace} a second: in about ${duration((count / pace) * 1000)}` : ""}. It can be paused and aborted.`,
      verb: `Replay ${plural(count, "job")}`,
      reason: "required",
    });
    if (answer === null) return;
    const share = Number(stopAt) / 100;
    const started = await act(
      () =>
        api.operations.start(id, {
          reason: answer.reason,
          ...(pace > 0 && { perSecond: pace }),
          attempts: attempts === "full" ? "full" : Math.max(1, number(attempts)),
          ...(share > 0 && share <= 1 && { stopAtFailureRate: share }),
        }),
      "The replay has begun.",
      (begun) => ({ href: href(["operations", begun.id]), text: "Watch it" }),
    );
    if (started) setMade(null);
  };
  return (
    <Panel title="Run them again?" aside={<span class="cut">{what.slice(0, 40)}</span>} isPadded>
      {fingerprint === "" && <p class="soft">Choose a fault to replay its jobs alone.</p>}
      <Segments
        label="Which first"
        value={strategy}
        options={[
          { value: "oldest", text: "Oldest" },
          { value: "newest", text: "Newest" },
          { value: "random", text: "Random" },
        ]}
        onChange={setStrategy}
      />
      <div class="form">
        <div class="pair">
          <NumberField
            label={found ? `At most, of ${cappedCount(found.count)}` : "At most"}
            value={limit}
            onChange={setLimit}
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
            ...["dead", "replay", ...(fingerprint === "" ? [] : [fingerprint])],
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
