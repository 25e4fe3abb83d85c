/** Writes docs/reference/http.md from the table of routes: `node scripts/http-reference.ts`. */
import { readFile, writeFile } from "node:fs/promises";
import { allRoutes, type Route } from "@holdfast/server";
import { classic } from "@holdfast/server/classic";
import { format, resolveConfig } from "prettier";
import { z } from "zod";

const page = new URL("../docs/reference/http.md", import.meta.url);

const HEAD = `# HTTP API

This page is made from the table of routes: \`node scripts/http-reference.ts\`. A running server has the same as
OpenAPI 3.1 at \`/api/openapi.json\` and to read at \`/api/docs\`.

Send \`Authorization: Bearer hf_…\`. An answer is \`{ "success": true, "data": … }\` or \`{ "success": false,
"error": { "code", "message", "requestId", … } }\`; a list is \`{ items, nextCursor }\`. Roles: viewer < operator <
admin. What is outside of a token's scope of queues is 404.

| Status | When |
|---|---|
| 200, 201 | done; something was made |
| 400 | the body is not JSON, or a cursor is not one |
| 401 | no credentials, or wrong ones |
| 403 | the role does not suffice (\`needs\` names the one that would), \`read_only\`, \`csrf\` |
| 404 | not there, or outside of the scope |
| 409 | its state does not allow it; a key is taken by another payload |
| 413, 415, 422 | the body is too large, is not JSON, has a field that does not fit (\`errors\` has its path) |
| 429 | too many wrong tokens, plans or listeners, or a full queue; \`Retry-After\` says when |
| 431 | a header has more than 8 KiB |
| 503 | the store is away, or a read took too long; \`Retry-After\` says when |
`;

const TABLES: readonly (readonly [string, (one: Route) => boolean])[] = [
  ["Routes", (one) => !isClassic(one)],
  ["Classic routes, from `@holdfast/server/classic`", isClassic],
];

const classicPaths = new Set(classic().routes.map(({ method, path }) => `${method} ${path}`));

function isClassic({ method, path }: Route): boolean {
  return classicPaths.has(`${method} ${path}`);
}

export async function httpReference(): Promise<string> {
  const routes = allRoutes([classic()]);
  const tables = TABLES.map(([title, isMeant]) => {
    const rows = routes.filter(isMeant).map(rowOf);
    return `## ${title}\n\n| Route | Role | What it does | Query | Body |\n|---|---|---|---|---|\n${rows.join("\n")}\n`;
  });
  const foreign = await readFile(new URL("./http-names.md", import.meta.url), "utf8");
  const text = [HEAD, ...tables, foreign].join("\n");
  return format(text, { ...(await resolveConfig(page)), parser: "markdown" });
}

function rowOf({ method, path, role, summary, query, body }: Route): string {
  const cells = [`\`${method} ${path}\``, role, summary, fieldsOf(query), fieldsOf(body)];
  return `| ${cells.join(" | ")} |`;
}

function fieldsOf(schema: z.ZodType | null): string {
  if (schema === null) return "";
  const made = z.toJSONSchema(schema, { io: "input" }) as {
    readonly properties?: object;
    readonly anyOf?: readonly { readonly properties?: object }[];
    readonly $defs?: Readonly<Record<string, { readonly properties?: object }>>;
  };
  const parts = [
    made,
    ...(made.anyOf ?? []),
    ...(made.anyOf ? Object.values(made.$defs ?? {}) : []),
  ];
  const names = new Set(parts.flatMap(({ properties }) => Object.keys(properties ?? {})));
  return [...names].map((name) => `\`${name}\``).join(", ");
}

if (import.meta.main) await writeFile(page, await httpReference());
