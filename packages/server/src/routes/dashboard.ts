/** The dashboard: one page and its assets. They hold no data: what they show comes by the API, and takes a token. */
import { dashboardFiles } from "../dashboard-files.ts";
import { notFound } from "../http/http-error.ts";
import type { EnvironmentOptions, LoginOptions } from "../server-options.ts";
import { route } from "./route.ts";

/** Names of assets change with what is in them. */
const FOR_EVER = "public, max-age=31536000, immutable";
const NOT_BUILT =
  "<!doctype html><title>Holdfast</title><p>The dashboard is not built: run <code>npm run build</code>. " +
  'The API is here, and can be <a href="api/docs">read</a>.';

const open = { method: "GET", role: "anyone", scope: "own", audit: null } as const;

export const dashboardRoutes = [
  route({
    ...{ ...open, path: "/", summary: "The dashboard.", query: null, body: null },
    answer: { contentType: "text/html" },
    async run({ services }) {
      const files = await dashboardFiles();
      const { basePath, options } = services;
      const text =
        files === null
          ? NOT_BUILT
          : pageOf(files.page, basePath, options.environment ?? null, options.login ?? null);
      const headers = { "content-type": "text/html; charset=utf-8" };
      return new Response(text, { headers, status: files === null ? 503 : 200 });
    },
  }),
  route({
    ...{ ...open, path: "/assets/:file", summary: "What its page needs.", query: null, body: null },
    answer: { contentType: "application/octet-stream" },
    async run({ params, request }) {
      const file = (await dashboardFiles())?.assets.get(params.file ?? "");
      if (!file) throw notFound("such file");
      const takesGzip = /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
      const isSmall = takesGzip && file.gzipped !== null;
      return new Response(isSmall ? file.gzipped : file.bytes, {
        headers: {
          ...{ "content-type": file.contentType, "cache-control": FOR_EVER },
          ...{ vary: "accept-encoding", ...(isSmall && { "content-encoding": "gzip" }) },
        },
      });
    },
  }),
];

/**
 * Where a base path is known, everything is asked for under it. Where it is not, everything is asked for beside
 * the page: so it also works behind a proxy that strips a prefix.
 */
export function pageOf(
  page: string,
  basePath: string,
  environment: EnvironmentOptions | null,
  login: LoginOptions | null = null,
): string {
  const base = basePath === "" ? "." : basePath;
  const about = escaped(JSON.stringify({ base, environment, ...(login && { login }) }));
  // Functions, for a text may hold what a replacement would take for a pattern.
  return page
    .replaceAll('"./', () => `"${base}/`)
    .replace("%HOLDFAST%", () => about)
    .replace("<title>Holdfast</title>", () =>
      environment === null
        ? "<title>Holdfast</title>"
        : `<title>${escaped(environment.name)} · Holdfast</title>`,
    );
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
