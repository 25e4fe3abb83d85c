/** Makes, changes and removes a gate. What the form does not show stays as it is. */
import { api } from "../../api/client.ts";
import type { Gate } from "../../api/types.ts";
import { act } from "../../state/act.ts";
import { askFirst, type QuestionField } from "../../state/questions.ts";
import { exactDuration, parseDuration } from "../../text/times.ts";

const checkWhole = (text: string): string | null =>
  /^[1-9]\d{0,6}$/.test(text) ? null : "a whole number from 1 on";
const checkTime = (text: string): string | null =>
  (parseDuration(text) ?? 0) > 0 ? null : "write 10 s, 1 min or 2 h";

export async function setGateByForm(gate: Gate | null, reload: () => void): Promise<void> {
  const answer = await askFirst({
    title: gate === null ? "New gate" : `Change the gate ${gate.name}`,
    body: "A rate, a breaker, a cooldown, or several of them. The whole fleet obeys it within seconds.",
    ...{ verb: gate === null ? "Make it" : "Change it", reason: "required" },
    fields: fieldsOf(gate),
  });
  if (answer === null) return;
  const name = gate?.name ?? answer.fields["name"] ?? "";
  const body = { ...bodyOf(answer.fields, gate), reason: answer.reason };
  if (await act(() => api.gates.set(name, body), `The gate ${name} is set.`)) reload();
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
      value: (gate?.targets ?? []).map(({ queue }) => queue).join(" "),
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
    { name: "perMs", label: "in", value: time(rate?.perMs), hint: "1 s, 10 s", check: checkTime },
    {
      ...{ name: "failures", label: "Breaker: failures (empty: no breaker)", kind: "number" },
      ...{ value: text(breaker?.failures), check: checkWhole },
    },
    { name: "withinMs", label: "within", value: time(breaker?.withinMs), check: checkTime },
    { name: "openMs", label: "open it for", value: time(breaker?.openMs), check: checkTime },
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

function bodyOf(fields: Readonly<Record<string, string>>, gate: Gate | null) {
  const { queues = "", per, limit, perMs, failures, withinMs, openMs, cooldown } = fields;
  const ms = (text: string | undefined, otherwise: number): number =>
    parseDuration(text ?? "") ?? otherwise;
  const first = gate?.rate[0];
  const own = queues.split(/[\s,]+/).filter(Boolean);
  const groups = new Map((gate?.targets ?? []).map(({ queue, group }) => [queue, group]));
  return {
    queue: own.map((queue) => {
      const group = groups.get(queue);
      return group == null ? queue : { queue, group };
    }),
    ...(per === "group" && { per: "group" }),
    ...(limit && {
      rate: [
        {
          ...{ limit: Number(limit), perMs: ms(perMs, 1_000) },
          ...(first !== undefined && Number(limit) === first.limit && { burst: first.burst }),
        },
        ...(gate?.rate.slice(1) ?? []),
      ],
    }),
    ...(failures && {
      breaker: {
        ...{ failures: Number(failures), withinMs: ms(withinMs, 60_000) },
        openMs: ms(openMs, 30_000),
        ...(gate?.breaker && { probes: gate.breaker.probes, countsAsDown: gate.countsAsDown }),
      },
    }),
    ...(cooldown === "yes" && { cooldown: gate?.cooldown ?? true }),
  };
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
