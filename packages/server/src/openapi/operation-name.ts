import type { Route } from "../routes/route.ts";

/** A name that is a route's own: `GET /api/v1/jobs/:id` is `getJobsId`. */
export function operationName({ method, path }: Pick<Route, "method" | "path">): string {
  const parts = path
    .replace(/^\/api\/v1\//, "/")
    .split(/[^A-Za-z0-9]+/)
    .filter((part) => part !== "");
  const camel = parts.map((part) => part[0]?.toUpperCase() + part.slice(1)).join("");
  const isOld = !path.startsWith("/api/v1/") && path.startsWith("/api/");
  return `${method.toLowerCase()}${isOld ? "Old" : ""}${camel}`;
}
