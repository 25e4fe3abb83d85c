/** A new job by hand: of a type that this server lets be enqueued, with what its schema says beside it. */
import { h } from "preact";
import { api } from "../../api/client.ts";
import type { JobType } from "../../api/types.ts";
import { askUntilDone } from "../../state/ask-until-done.ts";
import { askFirst, type Question, type QuestionField } from "../../state/questions.ts";
import { href } from "../../state/router.ts";
import { tell, tellError } from "../../state/toasts.ts";
import { parseExact, printExact } from "../../text/exact-json.ts";
import { samplePayload } from "../../text/sample-payload.ts";
import { parseDuration } from "../../text/times.ts";
import { TypeSchema } from "./type-schema.tsx";

export async function enqueueByForm(): Promise<void> {
  const type = await chooseType();
  if (type === null) return;
  const question: Question = {
    ...{ title: `Enqueue ${type.type}`, verb: "Enqueue", reason: "none", fields: fieldsOf(type) },
    body: h(TypeSchema, { type }),
  };
  const keyOf = keyOfSame();
  const made = await askUntilDone(question, ({ fields }) => {
    const body = { type: type.type, ...bodyOf(fields) };
    return api.jobs.enqueue({ idempotencyKey: keyOf(printExact(body)), ...body });
  });
  if (made === null) return;
  tell(
    made.status === "duplicate"
      ? "There is such a job already."
      : `It is enqueued in ${made.queue}.`,
    { href: href(["jobs", made.id]), text: "Show it" },
  );
}

/** The answer may get lost behind a job that was stored: the same form again, with the same in it, is the same job. */
function keyOfSame(): (text: string) => string {
  const keys = new Map<string, string>();
  return (text) => {
    const key = keys.get(text) ?? `by-hand:${randomText()}`;
    keys.set(text, key);
    return key;
  };
}

/** `crypto.randomUUID` is there over https alone. */
function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bodyOf(fields: Readonly<Record<string, string>>) {
  const { payload = "", queue, group, delay, key, priority, tags } = fields;
  return {
    payload: payload === "" ? {} : parseExact(payload),
    ...(queue && { queue }),
    ...(group && { group }),
    ...(delay && { delayMs: parseDuration(delay) }),
    ...(key && { idempotencyKey: key }),
    ...(priority && { priority: Number(priority) }),
    ...(tags && { tags: tags.split(/[\s,]+/).filter(Boolean) }),
  };
}

async function chooseType(): Promise<JobType | null> {
  const types = await api.types({ schemas: true }).catch((error: unknown) => {
    tellError(error);
    return null;
  });
  if (types === null) return null;
  const open = types.items
    .filter(({ mayEnqueue }) => mayEnqueue)
    .sort((a, b) => (a.type < b.type ? -1 : 1));
  if (open.length === 0) {
    tellError(
      new Error("No type may be enqueued here: the server's option enqueue says which may."),
    );
    return null;
  }
  const answer = await askFirst({
    ...{ title: "Enqueue a job", verb: "Go on", reason: "none", body: "Of which type?" },
    fields: [
      {
        ...{ name: "type", label: "Type", kind: "select", isRequired: true },
        value: open[0]?.type ?? "",
        options: open.map(({ type }) => ({ value: type, text: type })),
      },
    ],
  });
  return open.find(({ type }) => type === answer?.fields["type"]) ?? null;
}

export function checkJson(text: string): string | null {
  try {
    parseExact(text);
    return null;
  } catch (error) {
    return `this is not JSON: ${(error as Error).message}`;
  }
}

function fieldsOf({ schema, queue }: JobType): readonly QuestionField[] {
  return [
    {
      ...{ name: "payload", label: "Payload, as JSON", kind: "area", check: checkJson },
      value: printExact(schema === null ? {} : samplePayload(schema)),
    },
    { name: "queue", label: `Queue (empty: ${queue ?? "its own"})` },
    { name: "group", label: "Group (may be left out)" },
    {
      ...{ name: "delay", label: "Due in (empty: now)", hint: "90 s, 15 min, 2 h" },
      check: (text) => (parseDuration(text) === null ? "write 90 s, 15 min or 2 h" : null),
    },
    { name: "key", label: "Idempotency key (may be left out)" },
    {
      ...{ name: "priority", label: "Priority, 0 to 8191 (empty: its own)", kind: "number" },
      check: (text) => (/^\d{1,4}$/.test(text) && Number(text) <= 8191 ? null : "0 to 8191"),
    },
    { name: "tags", label: "Tags, with blanks between them" },
  ];
}
