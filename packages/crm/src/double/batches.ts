/** Batches: at most a hundred inputs. One that is refused spoils all, unless every input has a trace id. */
import { invalid, refused, type Answer, type Trouble } from "./answer.ts";
import { Refusal, type Portal } from "./portal.ts";
import type { ObjectType } from "./portal-properties.ts";
import { isPlainObject, shown, unknownWord } from "./shapes.ts";

interface Input {
  readonly id?: string;
  readonly idProperty?: string;
  readonly properties?: Record<string, unknown>;
  readonly objectWriteTraceId?: string;
}

const MOST = 100;
const WORDS: Readonly<Record<string, readonly string[]>> = {
  upsert: ["id", "idProperty", "properties", "objectWriteTraceId"],
  create: ["properties", "associations", "objectWriteTraceId"],
  update: ["id", "idProperty", "properties", "objectWriteTraceId"],
  read: ["id"],
  archive: ["id"],
};

export function batchAnswer(
  type: ObjectType,
  word: string,
  body: unknown,
  { portal, failing }: { readonly portal: Portal; readonly failing: readonly number[] },
): Answer {
  const isRead = word === "read";
  const known = isRead ? ["inputs", "properties", "idProperty"] : ["inputs"];
  if (!isPlainObject(body)) return invalid("the body must be a JSON object");
  const unknown = unknownWord(body, known);
  if (unknown !== null) return invalid(`Invalid input JSON: unknown field "${unknown}"`);
  const wrong = wrongInputs(word, body["inputs"]);
  if (wrong !== null) return invalid(wrong);
  const inputs = body["inputs"] as readonly Input[];
  const idProperty = typeof body["idProperty"] === "string" ? body["idProperty"] : null;
  const isMulti = inputs.every(({ objectWriteTraceId }) => objectWriteTraceId !== undefined);
  const results: unknown[] = [];
  const errors: unknown[] = [];
  if (!isMulti && failing.length === 0) {
    // All or nothing: the first look changes nothing.
    try {
      for (const input of inputs) checkInput(portal, type, word, input);
    } catch (error) {
      return refused(error);
    }
  }
  for (const [at, input] of inputs.entries()) {
    try {
      if (failing.includes(at)) {
        throw new Refusal("VALIDATION_ERROR", "This input was told to fail.");
      }
      const result = one(portal, type, word, input, idProperty);
      if (result !== null) results.push(result);
    } catch (error) {
      const { message, category, errors: inner = [] } = refused(error).body as Trouble;
      const context = {
        objectWriteTraceId: [input.objectWriteTraceId ?? ""],
        ids: [input.id ?? ""],
      };
      errors.push({ status: "error", category, message, context, errors: inner });
    }
  }
  if (word === "archive") return { status: 204, body: null };
  const times = { startedAt: new Date().toISOString(), completedAt: new Date().toISOString() };
  if (errors.length === 0) {
    const status = word === "create" ? 201 : 200;
    return { status, body: { status: "COMPLETE", results, ...times } };
  }
  return {
    status: 207,
    body: { status: "COMPLETE", results, numErrors: errors.length, errors, ...times },
  };
}

function one(
  portal: Portal,
  type: ObjectType,
  word: string,
  input: Input,
  idProperty: string | null,
): unknown {
  const { id = "", properties = {}, objectWriteTraceId } = input;
  const trace = objectWriteTraceId === undefined ? {} : { objectWriteTraceId };
  switch (word) {
    case "upsert": {
      const named = { id, idProperty: input.idProperty ?? "" };
      const { object, isNew } = portal.upsert(type, named, properties);
      return { ...shown(object), new: isNew, ...trace };
    }
    case "create":
      return { ...shown(portal.create(type, properties)), ...trace };
    case "update": {
      const found = portal.find(type, id, input.idProperty ?? null);
      if (!found) throw new Refusal("OBJECT_NOT_FOUND", `no ${type} object ${id}`);
      return { ...shown(portal.update(type, found.id, properties)), ...trace };
    }
    case "read": {
      const found = portal.find(type, id, idProperty);
      return found && shown(found);
    }
    default:
      portal.archive(type, id);
      return null;
  }
}

/** What can be told without a change. */
function checkInput(portal: Portal, type: ObjectType, word: string, input: Input): void {
  if (word === "read" || word === "archive") return;
  const { id = "", idProperty = "", properties = {} } = input;
  if (word === "upsert") portal.checkUpsert(type, { id, idProperty }, properties);
  else portal.check(type, properties);
}

function wrongInputs(word: string, inputs: unknown): string | null {
  if (!Array.isArray(inputs) || inputs.length === 0) return "inputs are missing";
  if (inputs.length > MOST) return `at most ${MOST} inputs, not ${inputs.length}`;
  const seen = new Set<string>();
  for (const input of inputs as readonly unknown[]) {
    if (!isPlainObject(input)) return "an input must be an object";
    const unknown = unknownWord(input, WORDS[word]!);
    if (unknown !== null) return `Invalid input JSON: unknown field "${unknown}"`;
    const { id, idProperty, properties } = input as Input;
    if (word !== "create") {
      if (typeof id !== "string" || id === "") return "an input needs its id";
      const key = `${idProperty ?? ""}=${id.toLowerCase()}`;
      if (seen.has(key)) return `Duplicate IDs found in batch input: ${id}`;
      seen.add(key);
    }
    if (word === "upsert" && (typeof idProperty !== "string" || idProperty === "")) {
      return "an input of an upsert needs idProperty";
    }
    const hasProperties = word === "upsert" || word === "create" || word === "update";
    if (hasProperties && !isPlainObject(properties)) return "an input needs properties";
  }
  return null;
}
