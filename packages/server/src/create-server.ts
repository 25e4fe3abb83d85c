/** Puts the server together, and gives it the three ways in: `fetch`, `node`, `listen`. */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { InvalidOptionError, type Holdfast } from "holdfast";
import { AuditDesk } from "./audit-desk.ts";
import { Authenticator } from "./auth/authenticator.ts";
import { Sessions } from "./auth/sessions.ts";
import { Tokens } from "./auth/tokens.ts";
import { firstToken } from "./auth/first-token.ts";
import { EventHub } from "./events/event-hub.ts";
import { addressReader, isLoopback } from "./http/client-address.ts";
import { handle, type Arrival } from "./http/handle.ts";
import { RecentCounts } from "./http/recent-counts.ts";
import { withParsedBody } from "./http/parsed-body.ts";
import { Metrics } from "./metrics/metrics.ts";
import { OverviewReader } from "./overview.ts";
import { allRoutes } from "./routes/all-routes.ts";
import { dashboardRoutes } from "./routes/dashboard.ts";
import { checkRoutes } from "./routes/check-routes.ts";
import { NO_SUCH_ROUTE } from "./routes/no-such-route.ts";
import type { Route } from "./routes/route.ts";
import { checkListen, checkServerOptions, type ServerOptions } from "./server-options.ts";
import type { Services } from "./services.ts";
import { SharedReads } from "./shared-reads.ts";

const PLANS_WITHIN_MS = 30_000;
const MOST_HEADER_BYTES = 8 * 1024;

export interface ListenOptions {
  /** Default 4680; 0: any that is free. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`. */
  readonly host?: string | undefined;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
}

export interface HoldfastServer {
  /** For Hono, Bun, Deno, Next and workers. */
  fetch(request: Request): Promise<Response>;
  /** For Express, plain `http`, and Fastify's raw request and reply. */
  node(request: IncomingMessage, response: ServerResponse): void;
  listen(options?: ListenOptions): Promise<Listening>;
  /** Ends listeners and stops listening; the Holdfast stays open. May be called again. */
  close(): Promise<void>;
}

export function createServer(hf: Holdfast, options: ServerOptions = {}): HoldfastServer {
  if ((hf as Partial<Holdfast> | null | undefined)?.tools === undefined) {
    throw new InvalidOptionError(
      "createServer takes a Holdfast: createServer(hf, { auth: { … } })",
    );
  }
  const services = servicesOf(hf, checkServerOptions(options));
  const app = routerOf(services);
  const addressOf = addressReader(options.trustedProxies ?? []);
  const base = services.basePath;

  const serve = async (given: Request, incoming?: IncomingMessage): Promise<Response> => {
    const request = incoming ? withParsedBody(given, incoming) : given;
    const url = new URL(request.url);
    const isUnder = base !== "" && (url.pathname === base || url.pathname.startsWith(`${base}/`));
    const path = isUnder ? url.pathname.slice(base.length) || "/" : url.pathname;
    const arrival: Omit<Arrival, "params"> = {
      ...{ request, address: addressOf(request, incoming), incoming },
    };
    // The router sees the path alone; the request itself goes by beside it.
    const asked = new Request(`http://local${path}`, { method: request.method });
    return app.fetch(asked, { arrival });
  };
  const listener = getRequestListener(
    (request, { incoming }) => serve(request, incoming as IncomingMessage),
    { overrideGlobalObjects: false },
  );
  const servers = new Set<ReturnType<typeof createHttpServer>>();
  let closing: Promise<void> | null = null;

  return {
    async fetch(request) {
      if (typeof (request as Partial<Request> | null | undefined)?.url !== "string") {
        throw new InvalidOptionError(
          "fetch takes a Request; node(req, res) is for Express and http",
        );
      }
      return serve(request);
    },
    node(request, response) {
      if (
        typeof (response as Partial<ServerResponse> | null | undefined)?.writeHead !== "function"
      ) {
        throw new InvalidOptionError("node takes a request and a response of Node: node(req, res)");
      }
      void listener(request, response);
    },
    async listen(given = {}) {
      const { port = 4680, host = "127.0.0.1" } = checkListen(given);
      await makeSafe(services, host);
      const server = createHttpServer(
        {
          ...{ maxHeaderSize: MOST_HEADER_BYTES, requestTimeout: 30_000, headersTimeout: 10_000 },
          ...{ keepAliveTimeout: 65_000, connectionsCheckingInterval: 5_000 },
        },
        (request, response) => void listener(request, response),
      );
      server.maxRequestsPerSocket = 100_000;
      await new Promise<void>((resolve, reject) => {
        const refused = (error: Error) => reject(listenError(error, { port, host }));
        server.once("error", refused);
        server.listen(port, host, () => {
          server.off("error", refused);
          resolve();
        });
      });
      noteErrors(server, services);
      servers.add(server);
      const { port: actual } = server.address() as AddressInfo;
      const name = host.includes(":") ? `[${host}]` : host;
      return { port: actual, url: `http://${name}:${actual}${base}` };
    },
    close() {
      closing ??= closeAll(services, servers);
      return closing;
    },
  };
}

const NOTED_EVERY_MS = 60_000;

/** No file descriptor was left for a connection, for one. Unheard, such an error ends the process, and its workers. */
function noteErrors(server: ReturnType<typeof createHttpServer>, { logger }: Services): void {
  let notedAt = -Infinity;
  server.on("error", (error) => {
    if (performance.now() - notedAt < NOTED_EVERY_MS) return;
    notedAt = performance.now();
    logger.error("a connection could not be taken: raise the limit of open files (ulimit -n)", {
      error,
    });
  });
}

function listenError(
  error: NodeJS.ErrnoException,
  { port, host }: { readonly port: number; readonly host: string },
): Error {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${host} is in use: stop what listens there, or take another port (0: any that is free)`,
    EACCES: `port ${port} is not for this user: take one from 1024 on (0: any that is free)`,
    EADDRNOTAVAIL: `this machine has no address ${host}: take 127.0.0.1, or 0.0.0.0 for all that it has`,
    ENOTFOUND: `there is no host ${host}: take 127.0.0.1, or 0.0.0.0 for all addresses`,
  };
  const reason = reasons[error.code ?? ""];
  return reason === undefined ? error : new InvalidOptionError(reason, { cause: error });
}

function servicesOf(hf: Holdfast, options: ServerOptions): Services {
  const now = () => Date.now();
  // What is only as old as it is must not be older or younger because a clock was set.
  const steady = () => performance.now();
  const logger = options.logger ?? hf.tools.logger;
  const records = hf.tools.ledgerRecords;
  const parts = { tokens: new Tokens(records, now), sessions: new Sessions(records, now), now };
  const every = allRoutes(options.mounts ?? []);
  const routes = options.dashboard === false ? withoutDashboard(every) : every;
  checkRoutes(routes);
  const overview = new OverviewReader(hf, now);
  const { maxClients, maxPerCaller } = options.events ?? {};
  const auth = new Authenticator(options.auth ?? {}, parts);
  const ended: Authenticator["ended"] = (all) => auth.ended(all);
  const hub = new EventHub({ hf, overview, logger, ended, maxClients, maxPerCaller, steady });
  return {
    ...{ hf, options, logger, overview, hub, routes, now, basePath: options.basePath ?? "" },
    auth,
    audit: new AuditDesk(hf, logger),
    metrics: new Metrics(hf, () => hub.size),
    shared: new SharedReads(steady),
    plans: new RecentCounts({ withinMs: PLANS_WITHIN_MS, now: steady }),
  };
}

function withoutDashboard(routes: readonly Route[]): readonly Route[] {
  return routes.filter((one) => !dashboardRoutes.includes(one));
}

function routerOf(services: Services) {
  const app = new Hono<{ Bindings: { readonly arrival: Omit<Arrival, "params"> } }>();
  for (const one of services.routes) add(one);
  // A preflight is answered, and allows nothing.
  app.options("*", () => new Response(null, { status: 204 }));
  app.all("*", (context) =>
    handle(services, NO_SUCH_ROUTE, { ...context.env.arrival, params: {} }),
  );
  return app;

  function add(one: Route): void {
    app.on(one.method, one.path, (context) =>
      handle(services, one, {
        ...context.env.arrival,
        params: context.req.param() as Record<string, string>,
      }),
    );
  }
}

/** On an address that others can reach the server does not start without a way to know its callers. */
async function makeSafe(services: Services, host: string): Promise<void> {
  const { auth, options, logger } = services;
  if (auth.isConfigured) return;
  const isLocal = isLoopback(host);
  const tokens = await auth.tokens.list().catch((error: unknown) => {
    if (!isLocal) throw error;
    logger.warn("the store is away: whether there are tokens is not known yet", { error });
    return null;
  });
  if (tokens === null || tokens.length > 0) return;
  if (!isLocal) {
    throw new InvalidOptionError(
      `${host} can be reached by others, and no caller is known: give createServer auth.adminToken, auth.jwt or auth.user, or make a token on 127.0.0.1 first`,
    );
  }
  await firstToken(auth.tokens, options.print ?? ((line) => console.log(line)));
}

async function closeAll(
  { hub, metrics, audit }: Services,
  servers: ReadonlySet<ReturnType<typeof createHttpServer>>,
): Promise<void> {
  hub.close();
  await Promise.all(
    [...servers].map(
      (server) =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeIdleConnections();
          // What is being answered may end; a connection that is only kept open may not hold us up.
          setTimeout(() => server.closeAllConnections(), 2_000).unref();
        }),
    ),
  );
  await audit.close();
  metrics.close();
}
