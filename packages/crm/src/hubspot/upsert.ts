/** Batch upserts: by a hundred, each input with a result of its own, whatever HubSpot answers for the batch. */
import { InvalidOptionError } from "holdfast";
import type { HubSpotRecord } from "./hubspot-client.ts";
import { HubSpotError } from "./hubspot-error.ts";
import { complaintsOf } from "./read-answer.ts";

export interface Upsert {
  /** A property whose values are unique: `email`, `external_id`. */
  readonly idProperty: string;
  readonly id: string;
  readonly properties: Readonly<Record<string, string>>;
}

export type UpsertResult =
  | { readonly ok: true; readonly record: HubSpotRecord & { readonly isNew: boolean } }
  | { readonly ok: false; readonly error: HubSpotError };

type Traced = Upsert & { readonly objectWriteTraceId: string };
type Send = (inputs: readonly Traced[]) => Promise<unknown>;

interface Reply {
  readonly results?: readonly (HubSpotRecord & {
    readonly new?: boolean;
    readonly objectWriteTraceId?: string;
  })[];
  readonly errors?: readonly Record<string, unknown>[];
}

const MOST = 100;

export async function upsertAll(send: Send, inputs: readonly Upsert[]): Promise<UpsertResult[]> {
  for (const { idProperty, id } of inputs) {
    if (idProperty !== "" && typeof id === "string" && id !== "") continue;
    throw new InvalidOptionError(`an upsert needs an id for ${idProperty || "its idProperty"}`);
  }
  const results: UpsertResult[] = [];
  for (let from = 0; from < inputs.length; from += MOST) {
    const part = inputs.slice(from, from + MOST);
    const traced = part.map((input, at) => ({ ...input, objectWriteTraceId: String(from + at) }));
    results.push(...(await upsertPart(send, traced)));
  }
  return results;
}

/** A batch that is refused as a whole is halved until the culprit stands alone. */
async function upsertPart(send: Send, part: readonly Traced[]): Promise<UpsertResult[]> {
  try {
    return matched(part, (await send(part)) as Reply);
  } catch (error) {
    if (!(error instanceof HubSpotError) || error.status !== 400) throw error;
    if (part.length === 1) return [{ ok: false, error }];
    const half = Math.ceil(part.length / 2);
    return [
      ...(await upsertPart(send, part.slice(0, half))),
      ...(await upsertPart(send, part.slice(half))),
    ];
  }
}

function matched(part: readonly Traced[], { results = [], errors = [] }: Reply): UpsertResult[] {
  const byTrace = new Map(results.map((one) => [one.objectWriteTraceId, one]));
  return part.map((input, at): UpsertResult => {
    const { objectWriteTraceId: trace } = input;
    const isUntraced = results.length === part.length && !byTrace.has(trace);
    const found = byTrace.get(trace) ?? (isUntraced ? results[at] : undefined);
    if (found) {
      const { id, properties, createdAt, updatedAt } = found;
      const record = { id, properties, createdAt, updatedAt, isNew: found.new === true };
      return { ok: true, record };
    }
    // An error that names other inputs is theirs: this one was not answered, which is no refusal.
    const wrong =
      errors.find((one) => tracesOf(one).includes(trace)) ??
      errors.find((one) => tracesOf(one).length === 0);
    return { ok: false, error: inputError(input, wrong) };
  });
}

function tracesOf(error: Readonly<Record<string, unknown>>): readonly string[] {
  const { objectWriteTraceId } = Object(error["context"]) as { objectWriteTraceId?: unknown };
  return Array.isArray(objectWriteTraceId) ? objectWriteTraceId.map(String) : [];
}

/** What each would be on its own. Any other word is no verdict on the input: it may go another time. */
const STATUSES: Readonly<Record<string, number>> = {
  ...{ VALIDATION_ERROR: 400, OBJECT_NOT_FOUND: 404, CONFLICT: 409, MISSING_SCOPES: 403 },
  ...{ RATE_LIMIT: 429, RATE_LIMITS: 429, RATELIMIT_EXCEEDED: 429 },
};

/** One input of a 207. */
function inputError(
  { idProperty }: Traced,
  wrong: Record<string, unknown> | undefined,
): HubSpotError {
  if (!wrong) {
    return new HubSpotError(`HubSpot answered nothing for an upsert by ${idProperty}`, {
      status: null,
    });
  }
  const category = typeof wrong["category"] === "string" ? wrong["category"] : null;
  const message = typeof wrong["message"] === "string" ? wrong["message"].slice(0, 500) : "";
  const complaints = complaintsOf({ errors: wrong["errors"] });
  const about = complaints.map((one) => one.message).join("; ");
  const status = STATUSES[category ?? ""] ?? null;
  return new HubSpotError(
    `HubSpot refused one of a batch with ${category ?? "no category"}: ${message}` +
      (about === "" ? "" : ` (${about})`),
    { status, category, complaints },
  );
}
