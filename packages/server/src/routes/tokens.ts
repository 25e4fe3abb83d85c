/** Tokens and sessions. */
import { z } from "zod";
import { needRole, ROLES, sees } from "../auth/caller.ts";
import { SESSION_MS, sessionCookie, sessionOf } from "../auth/sessions.ts";
import type { TokenRecord } from "../auth/tokens.ts";
import { HttpError, invalid, notFound } from "../http/http-error.ts";
import { Reply, route, type Call } from "./route.ts";
import { dateOf, DONE, done, instant, list, name, words } from "./words.ts";

const role = z.enum(ROLES);
export const tokenView = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    role,
    queues: z.array(z.string()).nullable(),
    createdAt: instant,
    createdBy: z.string(),
    expiresAt: instant.nullable(),
  })
  .meta({ id: "Token" });

function viewOf({ hash: _, ...token }: TokenRecord) {
  return token;
}

/** Secure wherever the browser came by https. */
function cookieOptions({ services, request }: Pick<Call, "services" | "request">) {
  const isHttps = new URL(request.url).protocol === "https:";
  const isForwarded = request.headers.get("x-forwarded-proto") === "https";
  return { path: services.basePath || "/", isSecure: isHttps || isForwarded };
}

export const tokenRoutes = [
  route({
    ...{ method: "GET", path: "/api/v1/tokens", role: "admin", scope: "whole", audit: null },
    ...{
      summary: "Tokens, without their secrets.",
      query: null,
      body: null,
      answer: list(tokenView),
    },
    async run({ services }) {
      const all = await services.auth.tokens.list();
      return { items: all.map(viewOf), nextCursor: null };
    },
  }),
  route({
    ...{ method: "POST", path: "/api/v1/tokens", role: "admin", scope: "whole", query: null },
    ...{ audit: "noted: create token", statuses: [201] },
    summary: "Makes a token. Its secret is in this answer and nowhere else.",
    body: z.strictObject({
      role,
      name: words(100).optional(),
      queues: z.array(name).min(1).max(100).optional(),
      expiresAt: instant.optional(),
    }),
    answer: z.strictObject({ token: tokenView, secret: z.string() }),
    async run({ services, body, caller }) {
      const expiresAt = dateOf(body.expiresAt) ?? null;
      if (expiresAt !== null && expiresAt.getTime() <= services.now()) {
        throw invalid([{ path: "body.expiresAt", message: "this is in the past" }]);
      }
      const { token, secret } = await services.auth.tokens.create({
        ...{ role: body.role, queues: body.queues ?? null, name: body.name ?? "" },
        ...{ createdBy: caller.by, expiresAt },
      });
      const { id, role: given, queues } = token;
      const details = { id, name: token.name, role: given, queues, expiresAt: token.expiresAt };
      return new Reply({ token: viewOf(token), secret }, 201, {}, { details });
    },
  }),
  route({
    ...{ method: "DELETE", path: "/api/v1/tokens/:id", role: "admin", scope: "whole" },
    ...{ audit: "noted: remove token", summary: "Ends a token and its sessions.", query: null },
    ...{ body: null, answer: done },
    async run({ services, params }) {
      if (!(await services.auth.tokens.remove(params.id ?? ""))) throw notFound("such token");
      return DONE;
    },
  }),
  route({
    ...{ method: "GET", path: "/api/v1/me", role: "viewer", scope: "own", audit: null },
    ...{ summary: "Who is calling, and what they may do.", query: null, body: null },
    answer: z.strictObject({
      ...{ by: z.string(), role, via: z.string(), queues: z.array(z.string()).nullable() },
      ...{ isReadOnly: z.boolean(), basePath: z.string() },
      mounts: z.array(z.string()).meta({
        description: "what is mounted beside these routes, as far as this caller sees it",
      }),
    }),
    async run({ caller, services }) {
      const { by, role: own, via, queues } = caller;
      const isReadOnly = services.options.readOnly === true;
      const scope = queues && [...queues].filter((queue) => sees(caller, queue));
      const mounts = (services.options.mounts ?? [])
        .filter(({ queue }) => sees(caller, queue))
        .map(({ name }) => name);
      const { basePath } = services;
      return { by, role: own, via, queues: scope, isReadOnly, basePath, mounts };
    },
  }),
  route({
    ...{ method: "POST", path: "/api/v1/session", role: "viewer", scope: "own", query: null },
    ...{ audit: "noted: log in", isHarmless: true, body: z.strictObject({}), isBodyOptional: true },
    summary: "Exchanges a token for a session cookie of 12 hours.",
    answer: z.strictObject({ role, endsAt: instant }),
    async run(call) {
      const { caller, services } = call;
      if (caller.via !== "token") {
        throw new HttpError(422, "needs_token", "a session begins with a token");
      }
      needRole(caller, "viewer");
      const secret = await services.auth.beginSession(caller);
      const endsAt = new Date(services.now() + SESSION_MS);
      const headers = { "set-cookie": sessionCookie(secret, cookieOptions(call)) };
      return new Reply({ role: caller.role, endsAt }, 200, headers);
    },
  }),
  route({
    ...{ method: "DELETE", path: "/api/v1/session", role: "viewer", scope: "own", query: null },
    ...{ audit: "noted: log out", isHarmless: true, body: null, answer: done },
    summary: "Ends the session.",
    async run(call) {
      const secret = sessionOf(call.request);
      if (secret !== null) await call.services.auth.sessions.end(secret);
      return new Reply(DONE, 200, { "set-cookie": sessionCookie(null, cookieOptions(call)) });
    },
  }),
];
