/** HTTP API for Holdfast: `createServer(hf, options)`. */
export { createServer } from "./create-server.ts";
export type { HoldfastServer, Listening, ListenOptions } from "./create-server.ts";
export type {
  AuthOptions,
  EnvironmentOptions,
  EventsOptions,
  Finding,
  KnownUser,
  LoginOptions,
  ServerOptions,
} from "./server-options.ts";
export type { JwtOptions } from "./auth/jwt.ts";
export type { Caller, Role } from "./auth/caller.ts";
export { Tokens, type NewToken, type TokenRecord } from "./auth/tokens.ts";
export { Reply, route } from "./routes/route.ts";
export type { Access, Call, Mount, RawAnswer, Route, RouteSpec } from "./routes/route.ts";
export { HttpError } from "./http/http-error.ts";
/** With which routes say what they take: a mount must use the same copy of it. */
export { z } from "zod";
export { openApiDocument } from "./openapi/document.ts";
export { allRoutes } from "./routes/all-routes.ts";
export { exposition, type Family, type Sample } from "./metrics/exposition.ts";
