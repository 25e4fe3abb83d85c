/** The paths that the double knows, and nothing besides: a path of another version is a 404. */
import { errorAnswer, invalid, refused, type Answer } from "./answer.ts";
import { batchAnswer } from "./batches.ts";
import type { Portal } from "./portal.ts";
import { checkDefinition, OBJECT_TYPES, type ObjectType } from "./portal-properties.ts";
import { searchAnswer } from "./searches.ts";
import { isPlainObject, shown, unknownWord } from "./shapes.ts";

export const VERSION = "2026-09";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export interface Setting {
  readonly portal: Portal;
  readonly searchLagMs: number;
  readonly portalId: number;
  readonly timeZone: string;
  /** Inputs of a batch that fail, by their place. */
  readonly failing: readonly number[];
}

/** What may be asked, and which scopes it needs; null: there is no such path. */
export interface Route {
  readonly scopes: readonly string[];
  readonly isSearch: boolean;
  run(asked: Asked, setting: Setting): Answer;
}

export function routeOf({ method, path }: Pick<Asked, "method" | "path">): Route | "method" | null {
  const parts = path.split("/").slice(1).map(decodeURIComponent);
  const [area, room, version, ...rest] = parts;
  if (area === "account-info" && room === VERSION && version === "details") {
    return method === "GET" ? { scopes: [], isSearch: false, run: details } : "method";
  }
  if (area !== "crm" || version !== VERSION) return null;
  if (room === "objects") return objectRoute(method, rest);
  if (room === "properties") return propertyRoute(method, rest);
  return null;
}

function objectRoute(method: string, parts: readonly string[]): Route | "method" | null {
  const [given, id, word, ...rest] = parts;
  const type = typeOf(given);
  if (type === null) return null;
  const reads = scopeOf(type, "read");
  const writes = scopeOf(type, "write");
  const route = (scope: string, run: Route["run"], isSearch = false): Route => ({
    ...{ scopes: [scope], run, isSearch },
  });
  if (id === undefined) {
    if (method !== "POST") return "method";
    return route(writes, (asked, setting) => create(type, asked, setting));
  }
  if (id === "search" && word === undefined) {
    if (method !== "POST") return "method";
    return route(reads, (asked, setting) => searchAnswer(type, asked.body, setting), true);
  }
  if (id === "batch" && word !== undefined && rest.length === 0) {
    if (!["upsert", "create", "update", "read", "archive"].includes(word)) return null;
    if (method !== "POST") return "method";
    const scope = word === "read" ? reads : writes;
    return route(scope, (asked, setting) => batchAnswer(type, word, asked.body, setting));
  }
  if (word === "associations") {
    const [kind, other, otherId] = rest;
    const to = typeOf(other);
    if (kind === "default" && to !== null && otherId !== undefined && rest.length === 3) {
      if (method !== "PUT") return "method";
      return route(writes, (_, { portal }) =>
        attempt(() => {
          portal.associate(type, id, to, otherId);
          return { status: 200, body: { status: "COMPLETE", results: [] } };
        }),
      );
    }
    const only = typeOf(kind);
    if (only === null || rest.length !== 1) return null;
    if (method !== "GET") return "method";
    return route(reads, (_, { portal }) => ({
      status: 200,
      body: {
        results: portal.associated(type, id, only).map((toObjectId) => ({
          ...{ toObjectId, associationTypes: [] },
        })),
      },
    }));
  }
  if (word !== undefined) return null;
  if (method === "GET") return route(reads, (asked, setting) => read(type, id, asked, setting));
  if (method === "PATCH") {
    return route(writes, (asked, setting) => update(type, id, asked, setting));
  }
  if (method === "DELETE") {
    return route(writes, (_, { portal }) => {
      portal.archive(type, id);
      return { status: 204, body: null };
    });
  }
  return "method";
}

function propertyRoute(method: string, parts: readonly string[]): Route | "method" | null {
  const [given, name] = parts;
  const type = typeOf(given);
  if (type === null || parts.length > 2) return null;
  const scopes = [`crm.schemas.${schemaOf(type)}.${method === "GET" ? "read" : "write"}`];
  if (method === "GET" && name === undefined) {
    const run: Route["run"] = (_, { portal }) => ({
      ...{ status: 200, body: { results: [...portal.properties(type).values()] } },
    });
    return { scopes, isSearch: false, run };
  }
  if (method === "GET") {
    const run: Route["run"] = (_, { portal }) => {
      const found = portal.properties(type).get(name ?? "");
      return found ? { status: 200, body: found } : notThere(`property ${name}`);
    };
    return { scopes, isSearch: false, run };
  }
  if (method !== "POST" || name !== undefined) return "method";
  const run: Route["run"] = ({ body }, { portal }) => {
    const properties = portal.properties(type);
    const made = checkDefinition(type, body, properties);
    if ("wrong" in made) return invalid(made.wrong);
    if (properties.has(made.name)) {
      return errorAnswer(409, {
        ...{ message: `A property named '${made.name}' already exists.`, category: "CONFLICT" },
      });
    }
    properties.set(made.name, made);
    return { status: 201, body: made };
  };
  return { scopes, isSearch: false, run };
}

function create(type: ObjectType, { body }: Asked, { portal }: Setting): Answer {
  if (!isPlainObject(body)) return invalid("the body must be a JSON object");
  const unknown = unknownWord(body, ["properties", "associations", "objectWriteTraceId"]);
  if (unknown !== null) return invalid(`Invalid input JSON: unknown field "${unknown}"`);
  const { properties } = body;
  if (!isPlainObject(properties)) return invalid("properties are missing");
  return attempt(() => ({ status: 201, body: shown(portal.create(type, properties)) }));
}

function read(type: ObjectType, id: string, { query }: Asked, { portal }: Setting): Answer {
  const found = portal.find(type, id, query.get("idProperty"));
  if (!found) return notThere(`${type} object ${id}`);
  return { status: 200, body: shown(found) };
}

function update(type: ObjectType, id: string, { query, body }: Asked, { portal }: Setting): Answer {
  if (!isPlainObject(body)) return invalid("the body must be a JSON object");
  const unknown = unknownWord(body, ["properties", "objectWriteTraceId"]);
  if (unknown !== null) return invalid(`Invalid input JSON: unknown field "${unknown}"`);
  const { properties } = body;
  if (!isPlainObject(properties)) return invalid("properties are missing");
  const found = portal.find(type, id, query.get("idProperty"));
  if (!found) return notThere(`${type} object ${id}`);
  return attempt(() => ({ status: 200, body: shown(portal.update(type, found.id, properties)) }));
}

function details(_: Asked, { portalId, timeZone }: Setting): Answer {
  const body = { portalId, timeZone, accountType: "STANDARD", companyCurrency: "USD" };
  return { status: 200, body };
}

function attempt(work: () => Answer): Answer {
  try {
    return work();
  } catch (error) {
    return refused(error);
  }
}

function notThere(what: string): Answer {
  return errorAnswer(404, { message: `There is no ${what}.`, category: "OBJECT_NOT_FOUND" });
}

function typeOf(given: string | undefined): ObjectType | null {
  return OBJECT_TYPES.find((type) => type === given) ?? null;
}

/** Activities need no scopes of their own: those of contacts. */
function schemaOf(type: ObjectType): string {
  return type === "companies" || type === "deals" || type === "tickets" ? type : "contacts";
}

function scopeOf(type: ObjectType, right: "read" | "write"): string {
  return type === "tickets" ? "tickets" : `crm.objects.${schemaOf(type)}.${right}`;
}

export const ALL_SCOPES: readonly string[] = [
  ...OBJECT_TYPES.flatMap((type) =>
    (["read", "write"] as const).flatMap((right) => [
      scopeOf(type, right),
      `crm.schemas.${schemaOf(type)}.${right}`,
    ]),
  ),
].filter((scope, at, all) => all.indexOf(scope) === at);
