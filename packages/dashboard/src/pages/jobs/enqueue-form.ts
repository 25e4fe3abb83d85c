/** A new job by hand: of a type that this server lets be enqueued. */
import { api } from "../../api/client.ts";
import { act } from "../../state/act.ts";
import { askFirst, type QuestionField } from "../../state/questions.ts";
import { href } from "../../state/router.ts";
import { tellError } from "../../state/toasts.ts";
import { parseExact } from "../../text/exact-json.ts";
import { parseDuration } from "../../text/times.ts";

export async function enqueueByForm(): Promise<void> {
  const types = await api.types().catch((error: unknown) => {
    tellError(error);
    return null;
  });
  if (types === null) return;
  const open = types.items.filter(({ mayEnqueue }) => mayEnqueue).map(({ type }) => type);
  const answer = await askFirst({
    ...{ title: "Enqueue a job", verb: "Enqueue", reason: "none", fields: fieldsOf(open.sort()) },
    body:
      open.length === 0
        ? "This server knows no type that may be enqueued here: its option enqueue says which may."
        : "Its payload is checked by the type's own schema, where it has one.",
  });
  if (answer === null) return;
  const { type = "", payload = "", queue, group, delay, key, priority, tags } = answer.fields;
  const body = {
    ...{ type, payload: payload.trim() === "" ? {} : parseExact(payload) },
    ...(queue && { queue }),
    ...(group && { group }),
    ...(delay && { delayMs: parseDuration(delay) }),
    ...(key && { idempotencyKey: key }),
    ...(priority && { priority: Number(priority) }),
    ...(tags && { tags: tags.split(/[\s,]+/).filter(Boolean) }),
  };
  await act(
    () => api.jobs.enqueue(body),
    ({ status, queue: where }) =>
      status === "duplicate" ? "There is such a job already." : `It is enqueued in ${where}.`,
    ({ id }) => ({ href: href(["jobs", id]), text: "Show it" }),
  );
}

export function checkJson(text: string): string | null {
  try {
    parseExact(text);
    return null;
  } catch (error) {
    return `this is not JSON: ${(error as Error).message}`;
  }
}

function fieldsOf(types: readonly string[]): readonly QuestionField[] {
  return [
    {
      ...{ name: "type", label: "Type", kind: "select", isRequired: true, value: types[0] ?? "" },
      options: types.map((value) => ({ value, text: value })),
    },
    { name: "payload", label: "Payload, as JSON", kind: "area", value: "{}", check: checkJson },
    { name: "queue", label: "Queue (empty: the type's own)" },
    { name: "group", label: "Group (may be left out)" },
    {
      ...{ name: "delay", label: "Due in (empty: now)", hint: "90 s, 15 min, 2 h" },
      check: (text) => (parseDuration(text) === null ? "write 90 s, 15 min or 2 h" : null),
    },
    { name: "key", label: "Idempotency key (may be left out)" },
    {
      ...{ name: "priority", label: "Priority, 0 to 8191 (empty: the type's own)", kind: "number" },
      check: (text) => (/^\d{1,4}$/.test(text) && Number(text) <= 8191 ? null : "0 to 8191"),
    },
    { name: "tags", label: "Tags, with blanks between them" },
  ];
}
