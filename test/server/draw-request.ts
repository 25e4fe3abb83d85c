/** Requests from the schemas of the document: most of them fit, some are bent on purpose. */
import type { CallOptions } from "./served.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

interface Operation {
  readonly parameters?: readonly { name: string; in: string; schema: Schema }[];
  readonly requestBody?: { content: { "application/json": { schema: Schema } } };
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export interface Draw {
  chance(share: number): boolean;
  whole(least: number, most: number): number;
  of<Item>(items: readonly Item[]): Item;
}

export function seededDraw(seed: number): Draw {
  let state = seed >>> 0 || 1;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    chance: (share) => next() < share,
    whole: (least, most) => least + Math.floor(next() * (most - least + 1)),
    of: (items) => items[Math.floor(next() * items.length)] as never,
  };
}

const NAMES = ["mail", "mail.send", "tenant-7", "x.y", "none", "constructor"];
/** What nobody should send. */
const BENT: readonly unknown[] = [
  ...["", "\u0000", "'; DROP TABLE jobs; --", "../../etc/passwd", "💥\ud800", "x".repeat(5_000)],
  ...[-1, 0, 1e15, 1.5, null, true, [], {}, [[]], { $gt: "" }, "2024-13-45T99:99:99Z", "NaN"],
];

export function drawRequest(about: {
  readonly document: Document;
  readonly path: string;
  readonly method: string;
  readonly draw: Draw;
  /** Of jobs that are there. */
  readonly ids: readonly string[];
}): { readonly path: string; readonly options: CallOptions } {
  const { document, method, draw, ids } = about;
  const operation = document.paths[about.path]?.[method] as Operation;
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  let path = about.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (draw.chance(0.1)) return encodeURIComponent(text(draw.of(BENT)).toWellFormed() || "x");
    return name === "id" && ids.length > 0 ? draw.of(ids) : draw.of(NAMES);
  });
  const search = new URLSearchParams();
  for (const { name, in: where, schema } of operation.parameters ?? []) {
    if (where !== "query" || !draw.chance(0.25)) continue;
    search.append(name, text(valueOf(document, schema, draw, 0)).toWellFormed());
  }
  if (draw.chance(0.02)) search.append("surprise", "1");
  if (search.size > 0) path += `?${search}`;
  const schema = operation.requestBody?.content["application/json"].schema;
  if (!schema) return { path, options: {} };
  return { path, options: { body: valueOf(document, schema, draw, 0) ?? {} } };
}

function valueOf(document: Document, given: Schema, draw: Draw, depth: number): unknown {
  if (draw.chance(0.04)) return draw.of(BENT);
  const schema = given.$ref
    ? (document.components.schemas[given.$ref.split("/").at(-1) as string] as Schema)
    : given;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return draw.of(schema.enum);
  if (schema.anyOf) return valueOf(document, draw.of(schema.anyOf), draw, depth);
  switch (schema.type) {
    case "object":
      return objectOf(document, schema, draw, depth);
    case "array":
      return Array.from({ length: draw.whole(0, 2) }, () =>
        valueOf(document, schema.items ?? {}, draw, depth + 1),
      );
    case "integer":
    case "number": {
      const least = schema.minimum ?? 0;
      const most = Math.min(schema.maximum ?? 1_000, least + 1_000);
      return schema.type === "integer" ? draw.whole(least, Math.trunc(most)) : most / 2;
    }
    case "boolean":
      return draw.chance(0.5);
    case "null":
      return null;
    case "string":
      if (schema.format === "date-time") return new Date(draw.whole(0, 2e12)).toISOString();
      return draw.of(NAMES);
    default:
      return draw.of([1, "text", { n: 1 }, [1, 2], null]);
  }
}

function objectOf(document: Document, schema: Schema, draw: Draw, depth: number): unknown {
  const made: Record<string, unknown> = {};
  for (const [name, under] of Object.entries(schema.properties ?? {})) {
    const isNeeded = schema.required?.includes(name) === true;
    if (isNeeded || draw.chance(depth > 1 ? 0.1 : 0.3)) {
      made[name] = valueOf(document, under, draw, depth + 1);
    }
  }
  if (typeof schema.additionalProperties === "object" && draw.chance(0.5)) {
    made[draw.of(NAMES)] = valueOf(document, schema.additionalProperties, draw, depth + 1);
  }
  return made;
}
