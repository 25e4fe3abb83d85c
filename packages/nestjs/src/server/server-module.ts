/**
 * The HTTP API of `@holdfast/server` as a route of the application, behind its guards:
 *
 *     HoldfastServerModule.forRoot({ path: "admin/jobs", guards: [JwtGuard, AdminGuard], user: (request) => … })
 *
 * Whom the guards let in is named by `user`; tokens of Holdfast's own are not looked at, because the header they come
 * in belongs to the guards.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  All,
  Controller,
  Inject,
  Module,
  Req,
  Res,
  UseGuards,
  type CanActivate,
  type DynamicModule,
  type InjectionToken,
  type ModuleMetadata,
  type Type,
} from "@nestjs/common";
import {
  createServer,
  type HoldfastServer,
  type KnownUser,
  type Mount,
  type ServerOptions,
} from "@holdfast/server";
import { HttpAdapterHost } from "@nestjs/core";
import { Holdfast, InvalidOptionError } from "holdfast";

/** Of Express or Fastify, with what the guards have put on it. */
export type NestRequest = Record<string, unknown> & { readonly raw?: IncomingMessage };

export interface HoldfastServerModuleOptions extends Omit<ServerOptions, "auth" | "basePath"> {
  /** Below the application's own prefix: `admin/jobs`. */
  readonly path?: string | undefined;
  /**
   * Instead of `path`: routes of the server that the application answers where they are, for example those of
   * `classic`: `["queue", "api/admin/queue"]`; each with all below it, `""` the page at the root alone.
   */
  readonly paths?: readonly string[] | undefined;
  /** Guards of this path, beside the global ones: classes or instances. */
  readonly guards?: readonly (Type<CanActivate> | CanActivate)[] | undefined;
  /** Who is behind a request that the guards let in, and what that caller may do. Null: 401. */
  readonly user: (
    request: NestRequest,
  ) => KnownUser | null | undefined | Promise<KnownUser | null | undefined>;
  /** Modules with what the guards need, and with the providers of `mountsFrom`. */
  readonly imports?: ModuleMetadata["imports"];
  /** Mounts beside `mounts` that are providers of the application: those that need something of it. */
  readonly mountsFrom?: readonly InjectionToken[] | undefined;
}

const ENDS = Symbol("servers to close");
/** A path is mounted once; a prefix or a version of the application may be in front of it. */
const MOST_SERVERS = 8;

export class HoldfastServerModule {
  static forRoot(options: HoldfastServerModuleOptions): DynamicModule {
    const { path, paths, guards = [], user, imports = [], mountsFrom = [], ...server } = options;
    const place = checkPlace(path, paths);
    if (typeof user !== "function") {
      throw new InvalidOptionError(
        "HoldfastServerModule needs user: (request) => ({ name, role }) of whom the guards let in, or null",
      );
    }
    const controller = controllerOf(place, guards);
    return {
      module: HoldfastServerModule,
      imports,
      controllers: [controller],
      providers: [
        {
          provide: ENDS,
          inject: [Holdfast, HttpAdapterHost, ...mountsFrom],
          useFactory: (hf: Holdfast, { httpAdapter }: HttpAdapterHost, ...injected: Mount[]) => {
            // Before routes are registered, and not earlier known.
            routeAll(controller, place, httpAdapter?.getType());
            const mounts = [...(server.mounts ?? []), ...injected];
            return new Mounted(hf, { place, user, server: { ...server, mounts } });
          },
        },
      ],
    };
  }
}
Module({})(HoldfastServerModule);

/** Under one path, with a base of its own; or at several, as they are. */
type Place = { readonly path: string } | { readonly paths: readonly string[] };

interface MountedOptions {
  readonly place: Place;
  readonly user: HoldfastServerModuleOptions["user"];
  readonly server: Omit<ServerOptions, "auth" | "basePath">;
}

class Mounted {
  readonly #hf: Holdfast;
  readonly #options: MountedOptions;
  readonly #requests = new WeakMap<IncomingMessage, NestRequest>();
  readonly #servers = new Map<string, HoldfastServer>();

  constructor(hf: Holdfast, options: MountedOptions) {
    this.#hf = hf;
    this.#options = options;
    // Wrong options stop the start, not the first request.
    this.#serverAt("path" in options.place ? `/${options.place.path}` : "");
  }

  answer(request: NestRequest, response: ServerResponse & { readonly raw?: ServerResponse }): void {
    const isFastify = request.raw !== undefined;
    const incoming = (request.raw ?? request) as IncomingMessage & { body?: unknown };
    // Fastify keeps what it parsed beside the request itself.
    if (isFastify && incoming.body === undefined) incoming.body = request["body"] ?? undefined;
    if (isFastify) (response as unknown as { hijack(): void }).hijack();
    const outgoing = response.raw ?? response;
    this.#requests.set(incoming, request);
    this.#serverAt(this.#basePath(incoming.url ?? "/")).node(incoming, outgoing);
  }

  /** Before the application stops listening: streams of events would keep it open. */
  async onModuleDestroy(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  /** Where it is really mounted, with whatever prefix or version the application has. */
  #basePath(url: string): string {
    const [pathname = "/"] = url.split("?");
    const { place } = this.#options;
    if ("paths" in place) return baseBefore(pathname, place.paths);
    const end = `/${place.path}`;
    // As a whole: a prefix may begin like it.
    const at = `${pathname}/`.indexOf(`${end}/`);
    return at < 0 ? end : pathname.slice(0, at + end.length);
  }

  #serverAt(basePath: string): HoldfastServer {
    const known = this.#servers.get(basePath);
    if (known) return known;
    const [[oldest, unused] = []] = this.#servers;
    if (oldest !== undefined && this.#servers.size >= MOST_SERVERS) {
      this.#servers.delete(oldest);
      void unused?.close().catch(() => {});
    }
    const server = createServer(this.#hf, {
      ...this.#options.server,
      basePath,
      auth: {
        only: "user",
        user: (_request, incoming) => {
          const request = incoming && this.#requests.get(incoming);
          return request ? this.#options.user(request) : null;
        },
      },
    });
    this.#servers.set(basePath, server);
    return server;
  }
}

/** What the application has in front: `/v2/queue/x` is under `/v2`, if `queue` is one of the paths. */
function baseBefore(pathname: string, paths: readonly string[]): string {
  const starts = paths.flatMap((path) => {
    if (path === "") return [];
    const at = `${pathname}/`.indexOf(`/${path}/`);
    return at < 0 ? [] : [at];
  });
  const base = pathname.slice(0, Math.min(pathname.length, ...starts)).replace(/\/+$/, "");
  // What is no base (`//queue`) is none: the server then says that there is no such route.
  return /^(\/[\w.~-]+)+$/.test(base) ? base : "";
}

/** A class of its own for each place: decorators write on it. */
function controllerOf(
  place: Place,
  guards: readonly (Type<CanActivate> | CanActivate)[],
): Type<unknown> {
  class HoldfastServerController {
    readonly #mounted: Mounted;

    constructor(mounted: Mounted) {
      this.#mounted = mounted;
    }

    answer(request: NestRequest, response: ServerResponse): void {
      this.#mounted.answer(request, response);
    }
  }
  const { prototype } = HoldfastServerController;
  Inject(ENDS)(HoldfastServerController, undefined, 0);
  Req()(prototype, "answer", 0);
  Res()(prototype, "answer", 1);
  if (guards.length > 0) UseGuards(...guards)(HoldfastServerController);
  Controller("path" in place ? place.path : "")(HoldfastServerController);
  return HoldfastServerController as unknown as Type<unknown>;
}

/** Express and Fastify write "everything below" differently. */
function routeAll({ prototype }: Type<unknown>, place: Place, adapter: string | undefined): void {
  const target = prototype as object;
  const descriptor = Object.getOwnPropertyDescriptor(target, "answer") as PropertyDescriptor;
  const below = adapter === "fastify" ? "*" : "{*path}";
  const routes =
    "path" in place
      ? ["", below]
      : place.paths.flatMap((path) => (path === "" ? [""] : [path, `${path}/${below}`]));
  All(routes)(target, "answer", descriptor);
}

function checkPlace(path: unknown, paths: unknown): Place {
  if ((path === undefined) === (paths === undefined)) {
    throw new InvalidOptionError(
      'HoldfastServerModule takes a path, "admin/jobs", or paths, ["queue", "api/admin/queue"]',
    );
  }
  if (paths === undefined) return { path: checkPath(path) };
  if (!Array.isArray(paths) || paths.length === 0) {
    throw new InvalidOptionError('paths is a list of routes of the server: ["queue"]');
  }
  return { paths: paths.map((one: unknown) => (one === "" ? "" : checkPath(one))) };
}

function checkPath(path: unknown): string {
  const trimmed = typeof path === "string" ? path.replace(/^\/+|\/+$/g, "") : "";
  if (/^[\w.~-]+(\/[\w.~-]+)*$/.test(trimmed)) return trimmed;
  throw new InvalidOptionError('path is where the server is mounted: "admin/jobs"');
}
