/** The OpenAPI 3.1 document, from the same schemas that requests and answers are held against. */
import { z } from "zod";
import { checkRoutes } from "../routes/check-routes.ts";
import type { Route } from "../routes/route.ts";
import { operationName } from "./operation-name.ts";

type Json = Record<string, unknown>;

const ERRORS: Readonly<Record<string, string>> = {
  "400": "The body or a cursor cannot be read.",
  "401": "No credentials, or wrong ones.",
  "403": "The role does not allow it, the server is read-only, or a cookie came from elsewhere.",
  "404": "Not there, or outside of the token's scope.",
  "409": "What it is about is in a state that does not allow it.",
  "413": "The body is too large.",
  "415": "The body is not JSON.",
  "422": "A field does not fit; errors has its path.",
  "429": "Too often; retry-after says when.",
  "431": "A header is too long.",
  "500": "A mistake of the server.",
  "501": "This store cannot do that.",
  "503": "The store is away, or this takes too long; retry-after says when.",
  "504": "It did not happen in time.",
};

export function openApiDocument(routes: readonly Route[], basePath = ""): Json {
  checkRoutes(routes);
  const paths: Record<string, Json> = {};
  for (const one of routes) {
    const path = one.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [one.method.toLowerCase()]: operationOf(one) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Holdfast",
      version: "1",
      description: "Look after jobs, queues, dead letters and workers.",
    },
    servers: [{ url: basePath || "/" }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "hf_<id>_<secret>, or a JWT" },
        session: { type: "apiKey", in: "cookie", name: "holdfast_session" },
      },
      schemas: schemasOf(routes),
      responses: Object.fromEntries(
        Object.entries(ERRORS).map(([code, description]) => [
          `E${code}`,
          errorResponse(description),
        ]),
      ),
    },
  };
}

function operationOf(one: Route): Json {
  const id = operationName(one);
  const params = [...one.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    ...{ name, in: "path", required: true, schema: { type: "string" } },
  }));
  const isOpen = one.role === "anyone";
  return {
    operationId: id,
    summary: one.summary,
    tags: [tagOf(one)],
    "x-role": one.role,
    ...(isOpen && { security: [] }),
    parameters: [...params, ...queryParameters(one)],
    ...(one.rawBody && {
      requestBody: {
        required: true,
        content: { [one.rawBody.contentType]: { schema: { type: "object" } } },
      },
    }),
    ...(one.body && {
      requestBody: {
        required: one.isBodyOptional !== true,
        content: { "application/json": { schema: { $ref: `#/components/schemas/${id}Body` } } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        (one.statuses ?? [200]).map((code) => [String(code), success(one, id)]),
      ),
      ...Object.fromEntries(
        Object.keys(ERRORS)
          .filter((code) => !(one.statuses ?? []).includes(Number(code)))
          .map((code) => [code, { $ref: `#/components/responses/E${code}` }]),
      ),
    },
  };
}

export function tagOf({ path }: Pick<Route, "path">): string {
  return /^\/api\/v1\/([\w-]+)/.exec(path)?.[1] ?? "system";
}

function queryParameters({ query }: Route): Json[] {
  if (query === null) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: "input" }) as {
    readonly properties?: Record<string, Json>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    ...{ name, in: "query", required: required.includes(name), schema },
    ...(description !== undefined && { description }),
    ...(schema.type === "array" && { style: "form", explode: false }),
  }));
}

function success(one: Route, id: string): Json {
  if (!(one.answer instanceof z.ZodType)) {
    const type = one.answer.contentType === "application/json" ? "object" : "string";
    return {
      description: "OK",
      content: { [one.answer.contentType]: { schema: { type } } },
    };
  }
  const data = { $ref: `#/components/schemas/${id}Answer` };
  const schema = one.isUnwrapped
    ? data
    : {
        type: "object",
        required: ["success", "data"],
        properties: { success: { const: true }, data },
        additionalProperties: false,
      };
  return { description: "OK", content: { "application/json": { schema } } };
}

function errorResponse(description: string): Json {
  const schema = { $ref: "#/components/schemas/Error" };
  return { description, content: { "application/json": { schema } } };
}

const errorSchema = z.strictObject({
  success: z.literal(false),
  error: z.looseObject({ code: z.string(), message: z.string(), requestId: z.string() }),
});

/** Each under its own name; those with an id of their own are shared. */
function schemasOf(routes: readonly Route[]): Json {
  const shared: Json = {};
  const schemas: Json = {};
  const add = (schema: z.ZodType, id: string) => {
    // In a union of one, a schema with an id of its own becomes a reference like any other.
    const made = z.toJSONSchema(z.union([schema]), { io: "input" }) as {
      $defs?: Json;
      anyOf: Json[];
    };
    schemas[id] = relocated(made.anyOf[0]);
    for (const [name, under] of Object.entries(made.$defs ?? {})) {
      const { id: _, ...rest } = under as Json;
      shared[name] = relocated(rest);
    }
  };
  for (const one of routes) {
    const id = operationName(one);
    if (one.body) add(one.body, `${id}Body`);
    if (one.answer instanceof z.ZodType) add(one.answer, `${id}Answer`);
  }
  add(errorSchema, "Error");
  return { ...shared, ...schemas };
}

function relocated(schema: unknown): unknown {
  return JSON.parse(
    JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as unknown;
}
