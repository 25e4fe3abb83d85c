/** A route that leaves something open keeps the server from starting. */
import { InvalidOptionError } from "holdfast";
import { z } from "zod";
import { ROLES } from "../auth/caller.ts";
import type { Route } from "./route.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

export function checkRoutes(routes: readonly Route[]): void {
  if (!Array.isArray(routes))
    throw new InvalidOptionError("routes are a list, as allRoutes() has it");
  const seen = new Set<string>();
  for (const given of routes as readonly unknown[]) {
    const one = Object(given) as Route;
    const name = `${one.method} ${one.path}`;
    const missing = whatIsMissing(one);
    if (missing !== null) throw new InvalidOptionError(`the route ${name} ${missing}`);
    const shape = `${one.method} ${one.path.replace(/:\w+/g, ":")}`;
    if (seen.has(shape)) throw new InvalidOptionError(`there are two routes ${name}`);
    seen.add(shape);
  }
}

function whatIsMissing(one: Partial<Route>): string | null {
  const isWrite = one.method !== "GET";
  if (!METHODS.includes(one.method ?? "")) return "has no method";
  if (!/^(\/|(\/(:?[\w.-]+))+)$/.test(one.path ?? ""))
    return "has no path that begins with a slash";
  if (!["anyone", ...ROLES].includes(one.role ?? "")) return "declares no role";
  if (!one.summary) return "has no summary";
  if (!isSchema(one.query)) return "declares no schema of its query (null: it takes none)";
  if (!isSchema(one.body)) return "declares no schema of its body (null: it takes none)";
  if (one.rawBody !== undefined && one.body !== null)
    return "reads its body itself and has a schema of it";
  const isRaw = typeof Object(one.answer).contentType === "string";
  if (!isRaw && !(one.answer instanceof z.ZodType)) return "declares no schema of its answer";
  if (!["queue", "own", "whole"].includes(one.scope ?? "")) {
    return "does not say what a scoped token sees";
  }
  if (one.audit === undefined) return "does not say who notes it in the audit";
  if (isWrite && one.audit === null && one.isHarmless !== true) {
    return "changes something, and no audit entry says so";
  }
  if (typeof one.run !== "function") return "does nothing";
  return null;
}

function isSchema(schema: unknown): boolean {
  return schema === null || schema instanceof z.ZodType;
}
