/** Makes, changes and removes a gate. */
import { api } from "../../api/client.ts";
import type { Gate } from "../../api/types.ts";
import { act } from "../../state/act.ts";
import { askUntilDone } from "../../state/ask-until-done.ts";
import { askFirst, type Question, type QuestionField } from "../../state/questions.ts";
import { tell } from "../../state/toasts.ts";
import { exactDuration, parseDuration } from "../../text/times.ts";
import { gateBody } from "./gate-body.ts";

const MOST = 1_000_000_000;
const checkWhole = (text: string): string | null =>
  /^[1-9]\d*$/.test(text) && Number(text) <= MOST ? null : "a whole number from 1 on";
const checkTime = (text: string): string | null =>
  (parseDuration(text) ?? 0) > 0 ? null : "write 10 s, 1 min or 2 h";

export async function setGateByForm(gate: Gate | null, reload: () => void): Promise<void> {
  const question: Question = {
    title: gate === null ? "New gate" : `Change the gate ${gate.name}`,
    body: "A rate, a breaker, a cooldown, or several of them. The whole fleet obeys it within seconds.",
    ...{ verb: gate === null ? "Make it" : "Change it", reason: "required" },
    fields: fieldsOf(gate),
  };
  const set = await askUntilDone(question, async ({ fields, reason }) => {
    const name = gate?.name ?? fields["name"] ?? "";
    if (gate === null && (await api.gates.list()).items.some((one) => one.name === name)) {
      throw new Error(`There is a gate ${name} already: take another name, or change that one.`);
    }
    await api.gates.set(name, { ...gateBody(fields, gate), reason });
    return name;
  });
  if (set === null) return;
  tell(`The gate ${set} is set.`);
  reload();
}

function fieldsOf(gate: Gate | null): readonly QuestionField[] {
  const rate = gate?.rate[0];
  const breaker = gate?.breaker;
  const text = (value: number | undefined): string => (value === undefined ? "" : String(value));
  const time = (value: number | undefined): string =>
    value === undefined ? "" : exactDuration(value);
  return [
    ...(gate === null ? [{ name: "name", label: "Name", isRequired: true } as const] : []),
    {
      ...{ name: "queues", label: "Queues, with blanks between them (empty: for calls by hand)" },
      value: [...new Set((gate?.targets ?? []).map(({ queue }) => queue))].join(" "),
    },
    {
      ...{ name: "per", label: "It counts", kind: "select", value: gate?.per ?? "" },
      options: [
        { value: "", text: "all jobs together" },
        { value: "group", text: "each group by itself" },
      ],
    },
    {
      ...{ name: "limit", label: "Starts (empty: no rate)", kind: "number", check: checkWhole },
      value: text(rate?.limit),
    },
    {
      ...{ name: "perMs", label: "in (empty: 1 s)", hint: "1 s, 10 s", check: checkTime },
      value: time(rate?.perMs),
    },
    {
      ...{ name: "burst", label: "So many more at once, after a quiet time (empty: a tenth)" },
      ...{ kind: "number", value: text(rate?.burst), check: checkWhole },
    },
    {
      ...{ name: "failures", label: "Breaker: failures (empty: no breaker)", kind: "number" },
      ...{ value: text(breaker?.failures), check: checkWhole },
    },
    {
      ...{ name: "withinMs", label: "within (empty: 1 min)", check: checkTime },
      value: time(breaker?.withinMs),
    },
    {
      ...{ name: "openMs", label: "open it for (empty: 30 s)", check: checkTime },
      value: time(breaker?.openMs),
    },
    {
      ...{ name: "cooldown", label: "After a 429", kind: "select" },
      value: gate?.cooldown == null ? "" : "yes",
      options: [
        { value: "", text: "nothing" },
        { value: "yes", text: "wait as long as it says" },
      ],
    },
  ];
}

export async function removeGate({ name }: Gate, reload: () => void): Promise<void> {
  const answer = await askFirst({
    title: `Remove the gate ${name}?`,
    body: "It holds nothing back any more: what waits for it starts as fast as workers take it.",
    ...{ verb: "Remove it", isDestructive: true, reason: "none" },
  });
  if (answer === null) return;
  if (await act(() => api.gates.remove(name), `The gate ${name} is gone.`)) reload();
}
