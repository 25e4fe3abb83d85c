/** What is configured, what is in force, and a way to change it. */
import type { ComponentChildren } from "preact";
import { api } from "../../api/client.ts";
import type { QueueDetails } from "../../api/types.ts";
import { Panel } from "../../components/panel.tsx";
import { act } from "../../state/act.ts";
import { askFirst } from "../../state/questions.ts";
import { useMay } from "../../state/session.ts";
import { count, plural } from "../../text/numbers.ts";
import { keepingText, parseKeeping } from "../../text/keeping.ts";
import { duration } from "../../text/times.ts";

const KEPT = ["succeeded", "dead", "cancelled"] as const;
const KEEPING_HINT = "14 days; at most 1000; 14 days, at most 1000; for ever";

export function checkBound(text: string): string | null {
  return /^\d{1,9}$/.test(text) ? null : "a whole number";
}

export function QueueSettings({ queue, reload }: { queue: QueueDetails; reload: () => void }) {
  const mayLimit = useMay("operator");
  const maySet = useMay("admin");
  const { maxActive, maxActivePerGroup, maxWaiting, active, overflow, keep } = queue;
  const rows: readonly (readonly [string, ComponentChildren])[] = [
    ["Most at once", limitText(maxActive, `${count(active)} run now`)],
    ["Most at once of a group", limitText(maxActivePerGroup)],
    ["Most waiting", limitText(maxWaiting, `${count(queue.ready)} wait now`)],
    ["When it is full, a new job", OVERFLOWS[overflow] ?? overflow],
    ...KEPT.map((status) => [`Keeps ${status}`, keepText(keep[status])] as const),
  ];
  return (
    <div class="stack">
      <Panel
        title="Limits and settings"
        isPadded
        aside={
          <span class="row">
            {mayLimit && (
              <button type="button" class="btn small" onClick={() => void setLimits(queue, reload)}>
                Limits
              </button>
            )}
            {maySet && (
              <button type="button" class="btn small" onClick={() => void setKeep(queue, reload)}>
                Keeping
              </button>
            )}
          </span>
        }
      >
        <dl class="facts">
          {rows.map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
        <p class="sub">
          Every process obeys these within seconds. A worker's own concurrency bounds them, too.
        </p>
      </Panel>
    </div>
  );
}

const OVERFLOWS: Readonly<Record<string, string>> = {
  wait: "waits",
  reject: "is refused",
  "cancel-running": "stops the one that has run longest",
};

function limitText(limit: number | null, now?: string): string {
  const text = limit === null ? "no limit" : count(limit);
  return now === undefined ? text : `${text}; ${now}`;
}

function keepText(rule: QueueDetails["keep"][string]): string {
  if (rule === undefined) return "as the general rule says";
  if (rule === null) return "for ever";
  const { maxAgeMs, maxCount } = rule;
  const parts = [
    maxAgeMs == null ? "" : `for ${duration(maxAgeMs)}`,
    maxCount == null ? "" : `at most ${plural(maxCount, "job")}`,
  ].filter(Boolean);
  return parts.length === 0 ? "for ever" : parts.join(", ");
}

async function setLimits(queue: QueueDetails, reload: () => void): Promise<void> {
  const { queue: name, maxActive, maxActivePerGroup, maxWaiting } = queue;
  const field = (key: string, label: string, value: number | null) => ({
    ...{
      name: key,
      label: `${label} (empty: no limit)`,
      kind: "number" as const,
      check: checkBound,
    },
    value: value === null ? "" : String(value),
  });
  const answer = await askFirst({
    title: `Limits of queue ${name}`,
    body: "They hold over the whole fleet, at once. What runs already goes on.",
    ...{ verb: "Set", reason: "none" },
    fields: [
      field("maxActive", "Most running at once", maxActive),
      field("maxActivePerGroup", "Most of one group at once", maxActivePerGroup),
      field("maxWaiting", "Most waiting; an enqueue beyond is refused", maxWaiting),
    ],
  });
  if (answer === null) return;
  const body = Object.fromEntries(
    ["maxActive", "maxActivePerGroup", "maxWaiting"].map((key) => {
      const text = answer.fields[key] ?? "";
      return [key, text === "" ? null : Number(text)];
    }),
  );
  if (await act(() => api.queues.limits({ queue: name }, body), `Limits of ${name} are set.`))
    reload();
}

async function setKeep(queue: QueueDetails, reload: () => void): Promise<void> {
  const { queue: name, keep, overflow } = queue;
  const answer = await askFirst({
    title: `Keeping of queue ${name}`,
    body: "How long finished jobs stay. What is past its time goes for good.",
    ...{ verb: "Set", isDestructive: true, reason: "required" },
    fields: [
      ...KEPT.map((status) => ({
        ...{ name: status, label: `Keep ${status} for (empty: as the general rule says)` },
        ...{ value: keepingText(keep[status]), hint: KEEPING_HINT },
        check: (given: string) =>
          parseKeeping(given) === undefined ? `write it as one of: ${KEEPING_HINT}` : null,
      })),
      {
        ...{
          name: "overflow",
          label: "When it is full, a new job",
          kind: "select" as const,
          value: overflow,
        },
        options: Object.entries(OVERFLOWS).map(([value, words]) => ({ value, text: words })),
      },
    ],
  });
  if (answer === null) return;
  const given = KEPT.flatMap((status) => {
    const words = answer.fields[status] ?? "";
    if (words === "") return [];
    return [[status, parseKeeping(words)] as const];
  });
  const body = {
    keep: given.length === 0 ? null : Object.fromEntries(given),
    ...{ overflow: answer.fields["overflow"], reason: answer.reason },
  };
  if (await act(() => api.queues.settings(name, body), `Settings of ${name} are stored.`)) reload();
}
