/** Makes or changes a schedule that belongs to the store. Its next ticks are shown before it is stored. */
import { api } from "../../api/client.ts";
import type { Schedule } from "../../api/types.ts";
import { askUntilDone } from "../../state/ask-until-done.ts";
import { askFirst, type Question, type QuestionField } from "../../state/questions.ts";
import { go, href } from "../../state/router.ts";
import { tell } from "../../state/toasts.ts";
import { parseExact, printExact } from "../../text/exact-json.ts";
import { exactDuration, exactTime, parseDuration } from "../../text/times.ts";
import { checkJson } from "../jobs/enqueue-form.ts";

/** What the server shows in place of a secret. Sent back it would be stored in place of the secret. */
const HIDDEN = "[REDACTED]";

export async function setScheduleByForm(
  schedule: Schedule | null,
  reload: () => void,
): Promise<void> {
  const name = await askUntilDone(questionOf(schedule), async ({ fields, reason }) => {
    const asked = schedule?.name ?? fields["name"] ?? "";
    if (schedule === null && (await isTaken(asked))) {
      throw new Error(
        `There is a schedule ${asked} already: take another name, or change that one.`,
      );
    }
    const { rule, body } = bodyOf(fields);
    const { next } = await api.schedules.preview(rule);
    const isMeant = await askFirst({
      title: `Store ${asked}?`,
      body: `It fires next at ${next.slice(0, 3).map(exactTime).join("; ")}.`,
      ...{ verb: "Store it", reason: "none" },
    });
    if (isMeant === null) return null;
    await api.schedules.set(asked, { ...body, reason });
    return asked;
  });
  if (name === null) return;
  tell(`${name} is stored.`);
  reload();
  go(href(["schedules", name]));
}

/** Of all names that begin so, it comes first. */
async function isTaken(name: string): Promise<boolean> {
  const { items } = await api.schedules.list({ prefix: name, limit: 1 });
  return items[0]?.name === name;
}

function questionOf(schedule: Schedule | null): Question {
  const kept =
    schedule === null
      ? ""
      : " Priority, tags and attempts of its job become those of its type: they are not shown here.";
  return {
    title: schedule === null ? "New schedule" : `Change ${schedule.name}`,
    body: `By cron, with a time zone, or every so often. Its next ticks are shown before it is stored.${kept}`,
    ...{ verb: "Show its ticks", reason: "required" },
    fields: fieldsOf(schedule),
  };
}

function checkPayload(text: string): string | null {
  return text.includes(HIDDEN)
    ? `${HIDDEN} stands for a secret that is not shown: write the secret in its place`
    : checkJson(text);
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
      ...{ name: "payload", label: "Payload, as JSON", kind: "area", check: checkPayload },
      value: schedule === null ? "{}" : printExact(schedule.job.payload, 2),
    },
    { name: "queue", label: "Queue (empty: the type's own)", value: schedule?.job.queue ?? "" },
    { name: "group", label: "Group (may be left out)", value: ownGroup(schedule) },
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

/** One that the store gave it, because its jobs run one at a time, is given to it again. */
function ownGroup(schedule: Schedule | null): string {
  const group = schedule?.job.group ?? "";
  return group === `schedule:${schedule?.name}` ? "" : group;
}

function bodyOf(fields: Readonly<Record<string, string>>) {
  const { cron = "", timeZone = "", everyMs = "", type, payload = "", queue = "" } = fields;
  const { group = "", overlap, missed } = fields;
  const rule = {
    ...(cron !== "" && { cron }),
    ...(timeZone !== "" && { timeZone }),
    ...(everyMs !== "" && { everyMs: parseDuration(everyMs) }),
  };
  const job = {
    ...{ type, payload: payload === "" ? {} : parseExact(payload) },
    ...(queue !== "" && { queue }),
    ...(group !== "" && { group }),
  };
  return { rule, body: { ...rule, job, overlap, missed } };
}
