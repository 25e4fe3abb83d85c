/** What `createServer` takes, checked and completed. A mistake stops the start and says what to do. */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { InvalidOptionError, type Logger } from "holdfast";
import { isRole, type Role } from "./auth/caller.ts";
import type { JwtOptions } from "./auth/jwt.ts";
import type { Mount } from "./routes/route.ts";

/** Whom a function of yours found behind a request. */
export interface KnownUser {
  readonly name: string;
  readonly role: Role;
  /** Default: all. */
  readonly queues?: readonly string[] | undefined;
}

export interface AuthOptions {
  /** An admin's token to begin with, for example `process.env.HOLDFAST_ADMIN_TOKEN`: 16 characters or more. */
  readonly adminToken?: string | undefined;
  readonly jwt?: JwtOptions | undefined;
  /**
   * Asked for requests without a token: a session of your own, a header of your proxy. Null: not known.
   * `incoming` is Node's own request, where there is one.
   */
  readonly user?:
    | ((
        request: Request,
        incoming?: IncomingMessage,
      ) => KnownUser | null | undefined | Promise<KnownUser | null | undefined>)
    | undefined;
  /** `"user"`: that function alone knows callers. For a server behind a login of your own, whose tokens are not ours. */
  readonly only?: "user" | undefined;
}

export interface EventsOptions {
  /** Most listeners at once; default 1,000. */
  readonly maxClients?: number | undefined;
  /** Most of one token or user; default 100. */
  readonly maxPerCaller?: number | undefined;
}

/** Which installation this is, so that people do not take one for another. */
export interface EnvironmentOptions {
  /** In the header, the title and before anything destructive: `production`. */
  readonly name: string;
  /** Of the header and the icon: `#c02b2b`. Default: red for production, grey for others. */
  readonly color?: string | undefined;
  /** The dashboard asks for the name before anything destructive. Default: its name begins with "prod". */
  readonly isProduction?: boolean | undefined;
}

/** Where people log in, if that is not by a token of Holdfast's: pages of your own, on the same origin. */
export interface LoginOptions {
  /** The dashboard sends people without a login there: `/login`. */
  readonly url: string;
  /** And there when they log out. Default: `url`. */
  readonly logoutUrl?: string | undefined;
}

export interface ServerOptions {
  readonly auth?: AuthOptions | undefined;
  /** Refuses every write. */
  readonly readOnly?: boolean | undefined;
  /** Where it is mounted: `"/jobs"`. Default: at the root. */
  readonly basePath?: string | undefined;
  /** Which types may be enqueued over HTTP. Default: those that this process knows; `"any"`: all. */
  readonly enqueue?: readonly string[] | "any" | undefined;
  /** Of a body. Default 4 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Of a read; a write has six times that. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Addresses of proxies, or networks such as `10.0.0.0/8`, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies?: readonly string[] | undefined;
  readonly events?: EventsOptions | undefined;
  /** The dashboard at the base path. Default true. */
  readonly dashboard?: boolean | undefined;
  readonly environment?: EnvironmentOptions | undefined;
  /** Default: the dashboard asks for a token. */
  readonly login?: LoginOptions | undefined;
  /** Further routes: classic ones, those of batteries, your own. */
  readonly mounts?: readonly Mount[] | undefined;
  /** What `GET /api/v1/doctor` adds to its own findings. */
  readonly doctor?: (() => Promise<readonly Finding[]>) | undefined;
  /** Default: the Holdfast's own. */
  readonly logger?: Logger | undefined;
  /** Hears of a first token. Default: prints it. */
  readonly print?: ((line: string) => void) | undefined;
  /** @internal Every answer is held against its schema; for tests. */
  readonly checkAnswers?: boolean | undefined;
}

export interface Finding {
  readonly level: "ok" | "warning" | "problem";
  readonly what: string;
  /** What to do about it. */
  readonly advice: string | null;
}

const OPTIONS = [
  ...["auth", "readOnly", "basePath", "enqueue", "maxBodyBytes", "timeoutMs", "trustedProxies"],
  ...["events", "dashboard", "environment", "login", "mounts", "doctor", "logger", "print"],
  "checkAnswers",
];
const AUTH = ["adminToken", "jwt", "user", "only"];
const JWT = ["secret", "jwksUrl", "issuer", "audience", "roleClaim", "queuesClaim"];

export function checkServerOptions(options: ServerOptions): ServerOptions {
  refuseUnknown("createServer", options, OPTIONS);
  const { auth = {}, events = {}, basePath = "", enqueue, trustedProxies = [] } = options;
  refuseUnknown("auth", auth, AUTH);
  refuseUnknown("events", events, ["maxClients", "maxPerCaller"]);
  const { adminToken, jwt, user, only } = auth;
  if (adminToken !== undefined && !(typeof adminToken === "string" && adminToken.length >= 16)) {
    throw new InvalidOptionError("auth.adminToken is a text of at least 16 characters");
  }
  if (jwt !== undefined) checkJwt(jwt);
  if (user !== undefined && typeof user !== "function") {
    throw new InvalidOptionError("auth.user is a function: (request) => ({ name, role }) or null");
  }
  if (only !== undefined && ((only !== "user" || user === undefined || adminToken) ?? jwt)) {
    throw new InvalidOptionError(
      'auth.only is "user", beside auth.user and without adminToken and jwt',
    );
  }
  if (options.login !== undefined) checkLogin(options.login);
  if (basePath !== "" && !/^(\/[\w.~-]+)+$/.test(basePath)) {
    throw new InvalidOptionError('basePath is a path without a slash at its end: "/jobs"');
  }
  if (enqueue !== undefined && enqueue !== "any" && !isTexts(enqueue)) {
    throw new InvalidOptionError('enqueue is a list of job types, or "any"');
  }
  for (const proxy of isTexts(trustedProxies) ? trustedProxies : [""]) {
    const [address = "", bits = "32"] = proxy.split("/");
    if (isIP(address) !== 0 && /^\d{1,3}$/.test(bits)) continue;
    throw new InvalidOptionError('trustedProxies is a list of addresses: ["10.0.0.0/8", "::1"]');
  }
  if (options.dashboard !== undefined && typeof options.dashboard !== "boolean") {
    throw new InvalidOptionError("dashboard is true or false");
  }
  if (options.environment !== undefined) checkEnvironment(options.environment);
  checkMounts(options.mounts ?? []);
  checkCount("maxBodyBytes", options.maxBodyBytes);
  checkCount("timeoutMs", options.timeoutMs);
  checkCount("events.maxClients", events.maxClients);
  checkCount("events.maxPerCaller", events.maxPerCaller);
  return options;
}

function checkEnvironment(environment: EnvironmentOptions): void {
  refuseUnknown("environment", environment, ["name", "color", "isProduction"]);
  const { name, color, isProduction } = environment;
  if (typeof name !== "string" || name.trim() === "" || name.length > 40) {
    throw new InvalidOptionError('environment.name is a text of 1 to 40 characters: "production"');
  }
  if (color !== undefined && !/^#[0-9a-f]{6}$/i.test(color)) {
    throw new InvalidOptionError('environment.color is a colour of six hex digits: "#c02b2b"');
  }
  if (isProduction !== undefined && typeof isProduction !== "boolean") {
    throw new InvalidOptionError("environment.isProduction is true or false");
  }
}

export function checkListen(options: unknown): { port?: number; host?: string } {
  refuseUnknown("listen", options, ["port", "host"]);
  const { port, host } = options as { readonly port?: unknown; readonly host?: unknown };
  const isPort = Number.isInteger(port) && (port as number) >= 0 && (port as number) <= 65_535;
  if (port !== undefined && !isPort) {
    throw new InvalidOptionError("port is a whole number from 0 to 65535; 0: any that is free");
  }
  if (host !== undefined && (typeof host !== "string" || host === "")) {
    throw new InvalidOptionError('host is an address: "127.0.0.1"');
  }
  return {
    ...(port !== undefined && { port: port as number }),
    ...(host !== undefined && { host }),
  };
}

export function checkMounts(mounts: unknown): asserts mounts is readonly Mount[] {
  const isMount = (one: unknown) => Array.isArray((Object(one) as Partial<Mount>).routes);
  if (Array.isArray(mounts) && mounts.every(isMount)) return;
  throw new InvalidOptionError("mounts is a list of what classic() and batteries give");
}

function checkJwt(jwt: JwtOptions): void {
  refuseUnknown("auth.jwt", jwt, JWT);
  const { secret, jwksUrl } = jwt;
  if ((secret === undefined) === (jwksUrl === undefined)) {
    throw new InvalidOptionError("auth.jwt takes either a secret or a jwksUrl");
  }
  if (secret !== undefined && secret.length < 32) {
    throw new InvalidOptionError("auth.jwt.secret has at least 32 characters");
  }
  if (jwksUrl !== undefined && !URL.canParse(jwksUrl)) {
    throw new InvalidOptionError("auth.jwt.jwksUrl is the address of the provider's keys");
  }
}

function checkCount(name: string, value: unknown): void {
  if (value === undefined || (Number.isInteger(value) && (value as number) > 0)) return;
  throw new InvalidOptionError(`${name} is a whole number above 0`);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

export function refuseUnknown(what: string, given: unknown, allowed: readonly string[]): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new InvalidOptionError(
      `${what} takes an object: { ${allowed.slice(0, 3).join(", ")}, … }`,
    );
  }
  const unknown = Object.keys(given).find((name) => !allowed.includes(name));
  if (unknown === undefined) return;
  throw new InvalidOptionError(
    `${what} has no option "${unknown.slice(0, 64)}": it takes ${allowed.join(", ")}`,
  );
}

/** What a function of the user answered, or null. */
export function checkUser(user: unknown): KnownUser | null {
  const { name, role, queues } = Object(user) as Partial<KnownUser>;
  if (typeof name !== "string" || name === "" || !isRole(role)) return null;
  if (queues !== undefined && !isTexts(queues)) return null;
  return { name: name.slice(0, 150), role, queues };
}

/** Of the same origin: a path. `//elsewhere` is another one. */
function checkLogin(login: LoginOptions): void {
  refuseUnknown("login", login, ["url", "logoutUrl"]);
  const { url, logoutUrl = url } = login;
  for (const [name, path] of Object.entries({ url, logoutUrl })) {
    if (typeof path === "string" && /^\/(?!\/)[^\s\\]*$/.test(path)) continue;
    throw new InvalidOptionError(`login.${name} is a path of the same server: "/login"`);
  }
}
