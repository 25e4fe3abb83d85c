/** Makes or changes a schedule that belongs to the store. Its next ticks are shown before it is stored. */
import { api } from "../../api/client.ts";
import type { Schedule } from "../../api/types.ts";
import { act } from "../../state/act.ts";
import { askFirst, type QuestionField } from "../../state/questions.ts";
import { go, href } from "../../state/router.ts";
import { tellError } from "../../state/toasts.ts";
import { parseExact, printExact } from "../../text/exact-json.ts";
import { exactDuration, exactTime, parseDuration } from "../../text/times.ts";
import { checkJson } from "../jobs/enqueue-form.ts";

export async function setScheduleByForm(
  schedule: Schedule | null,
  reload: () => void,
): Promise<void> {
  const answer = await askFirst({
    title: schedule === null ? "New schedule" : `Change ${schedule.name}`,
    body: "By cron, with a time zone, or every so often. Its next ticks are shown before it is stored.",
    ...{ verb: "Show its ticks", reason: "required" },
    fields: fieldsOf(schedule),
  });
  if (answer === null) return;
  const name = schedule?.name ?? answer.fields["name"] ?? "";
  const { rule, body } = bodyOf(answer.fields);
  try {
    const { next } = await api.schedules.preview(rule);
    const isMeant = await askFirst({
      title: `Store ${name}?`,
      body: `It fires next at ${next.slice(0, 3).map(exactTime).join("; ")}.`,
      ...{ verb: "Store it", reason: "none" },
    });
    if (isMeant === null) return;
  } catch (error) {
    tellError(error);
    return;
  }
  const done = await act(
    () => api.schedules.set(name, { ...body, reason: answer.reason }),
    `${name} is stored.`,
  );
  if (!done) return;
  reload();
  go(href(["schedules", name]));
}

function fieldsOf(schedule: Schedule | null): readonly QuestionField[] {
  return [
    ...(schedule === null ? [{ name: "name", label: "Name", isRequired: true } as const] : []),
    {
      ...{ name: "cron", label: "Cron (empty: every so often)", hint: "0 9 * * MON" },
      value: schedule?.cron ?? "",
    },
    {
      ...{ name: "timeZone", label: "Time zone of the cron", hint: "Europe/Berlin" },
      value: schedule?.timeZone ?? "",
    },
    {
      ...{ name: "everyMs", label: "Every (empty: by cron)", hint: "90 s, 15 min, 2 h" },
      value: schedule?.everyMs == null ? "" : exactDuration(schedule.everyMs),
      check: (text) => ((parseDuration(text) ?? 0) > 0 ? null : "write 90 s, 15 min or 2 h"),
    },
    { name: "type", label: "Type of its job", isRequired: true, value: schedule?.job.type ?? "" },
    {
      ...{ name: "payload", label: "Payload, as JSON", kind: "area", check: checkJson },
      value: schedule === null ? "{}" : printExact(schedule.job.payload, 2),
    },
    { name: "queue", label: "Queue (empty: the type's own)", value: schedule?.job.queue ?? "" },
    {
      ...{ name: "overlap", label: "While the last one runs", kind: "select" },
      value: schedule?.overlap ?? "skip",
      options: [
        { value: "skip", text: "skip the tick" },
        { value: "queue", text: "let its job wait behind" },
        { value: "cancel", text: "cancel the running one" },
      ],
    },
    {
      ...{ name: "missed", label: "Missed ticks", kind: "select" },
      value: schedule?.onMissed ?? "once",
      options: [
        { value: "once", text: "fire once for all of them" },
        { value: "skip", text: "leave them out" },
        { value: "all", text: "fire each of them" },
      ],
    },
  ];
}

function bodyOf(fields: Readonly<Record<string, string>>) {
  const { cron = "", timeZone = "", everyMs = "", type, payload = "{}", queue = "" } = fields;
  const { overlap, missed } = fields;
  const rule = {
    ...(cron !== "" && { cron }),
    ...(timeZone !== "" && { timeZone }),
    ...(everyMs !== "" && { everyMs: parseDuration(everyMs) }),
  };
  const job = { type, payload: parseExact(payload), ...(queue !== "" && { queue }) };
  return { rule, body: { ...rule, job, overlap, missed } };
}
