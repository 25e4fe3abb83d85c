/** The API to read, as one page without scripts and without anything from elsewhere. */
import { z } from "zod";
import type { Route } from "../routes/route.ts";
import { tagOf } from "./document.ts";

export const docsStyle = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1d2733; background: #fff; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #d5dbe1; }
section { margin: 1.2rem 0; } code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { background: #f4f6f8; padding: .8rem; overflow-x: auto; border-radius: 4px; }
.method { font-weight: 700; display: inline-block; min-width: 4.5rem; } .role { color: #5a6875; }
table { border-collapse: collapse; } td, th { border: 1px solid #d5dbe1; padding: .2rem .6rem; text-align: left; }
@media (prefers-color-scheme: dark) { body { color: #dbe2ea; background: #141a21; } pre { background: #1d252e; } }
`;

export function docsPage(routes: readonly Route[], basePath: string): string {
  const tags = [...new Set(routes.map(tagOf))];
  const parts = tags.map((tag) => {
    const own = routes.filter((one) => tagOf(one) === tag);
    return `<h2 id="${escaped(tag)}">${escaped(tag)}</h2>${own.map((one) => sectionOf(one, basePath)).join("")}`;
  });
  const index = tags.map((tag) => `<a href="#${escaped(tag)}">${escaped(tag)}</a>`).join(" · ");
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Holdfast API</title>` +
    `<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="${escaped(basePath)}/api/docs.css"></head>` +
    `<body><h1>Holdfast API</h1><p>Send <code>Authorization: Bearer hf_…</code>. Answers are ` +
    `<code>{ "success": true, "data": … }</code> or <code>{ "success": false, "error": { "code", "message" } }</code>; ` +
    `lists are <code>{ items, nextCursor }</code>. As a document: <a href="${escaped(basePath)}/api/openapi.json">OpenAPI 3.1</a>.</p>` +
    `<p>${index}</p>${parts.join("")}</body></html>`
  );
}

function sectionOf(one: Route, basePath: string): string {
  const query = one.query === null ? "" : fieldsOf(one.query);
  const body = one.body === null ? "" : `<p>Body:</p><pre>${schemaText(one.body)}</pre>`;
  const answer =
    one.answer instanceof z.ZodType ? `<p>Answer:</p><pre>${schemaText(one.answer)}</pre>` : "";
  return (
    `<section><p><span class="method">${one.method}</span> <code>${escaped(basePath + one.path)}</code> ` +
    `<span class="role">${escaped(one.role)}</span></p><p>${escaped(one.summary)}</p>${query}` +
    `<details><summary>Schemas</summary>${body}${answer}</details></section>`
  );
}

function fieldsOf(query: z.ZodType): string {
  const { properties = {} } = z.toJSONSchema(query, { io: "input" }) as {
    readonly properties?: Record<string, { readonly type?: string; readonly description?: string }>;
  };
  const rows = Object.entries(properties).map(
    ([name, { type = "text", description = "" }]) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${escaped(type)}</td><td>${escaped(description)}</td></tr>`,
  );
  if (rows.length === 0) return "";
  return `<table><tr><th>Query</th><th>Type</th><th></th></tr>${rows.join("")}</table>`;
}

function schemaText(schema: z.ZodType): string {
  const { $schema: _, ...own } = z.toJSONSchema(schema, { io: "input" });
  return escaped(JSON.stringify(own, null, 2));
}

function escaped(text: string): string {
  const marks: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
  };
  return text.replace(/[&<>"]/g, (mark) => marks[mark] ?? mark);
}
