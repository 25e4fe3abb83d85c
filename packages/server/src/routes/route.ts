/**
 * A route and all that is to be known of it: who may call it, what it takes, what it answers. The server, the
 * OpenAPI document, the readable page and the reference are made from these; a route that leaves something out
 * keeps the server from starting.
 */
import type { AuditNote, Holdfast } from "holdfast";
import type { z } from "zod";
import type { Caller, Role } from "../auth/caller.ts";
import type { Services } from "../services.ts";

/** `anyone`: no credentials. */
export type Access = Role | "anyone";
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** An answer that is not JSON of ours: text, a stream. */
export interface RawAnswer {
  readonly contentType: string;
}

export interface Call<Query = unknown, Body = unknown> {
  readonly hf: Holdfast;
  readonly services: Services;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly request: Request;
  readonly address: string;
}

export interface RouteSpec<Query extends z.ZodType | null, Body extends z.ZodType | null> {
  readonly method: Method;
  /** `/api/v1/jobs/:id`. */
  readonly path: string;
  readonly role: Access;
  /** One sentence. */
  readonly summary: string;
  /** Null: it takes none. */
  readonly query: Query;
  readonly body: Body;
  /** The route reads the body itself, as it comes; `body` is null. For files: `multipart/form-data`. */
  readonly rawBody?: RawAnswer;
  /** A body may be left out. */
  readonly isBodyOptional?: boolean;
  readonly answer: z.ZodType | RawAnswer;
  /** Of a success, where it is not 200 alone. */
  readonly statuses?: readonly number[];
  /**
   * What a token with a scope of queues sees. `queue`: the route names a queue, which must be in it. `own`: the
   * route leaves out what is not. `whole`: nothing, for the route is about everything.
   */
  readonly scope: "queue" | "own" | "whole";
  /**
   * Who notes a write. `library`: the verb does it by itself. A text: the server does, with this action.
   * `gathered`: the server does, once a minute for each caller. Null: it changes nothing.
   */
  readonly audit: "library" | "gathered" | `noted: ${string}` | null;
  /** It is also answered while `readOnly` is set, although it is no GET. */
  readonly isHarmless?: boolean;
  /** Its answer is as the systems of old have it, without `success` and `data`. */
  readonly isUnwrapped?: boolean;
  run(call: Call<Parsed<Query>, Parsed<Body>>): Promise<unknown>;
}

type Parsed<Schema extends z.ZodType | null> = Schema extends z.ZodType ? z.output<Schema> : null;

export type Route = Omit<RouteSpec<z.ZodType | null, z.ZodType | null>, "run"> & {
  run(call: Call<never, never>): Promise<unknown>;
  /** Of a mount: whom a caller without credentials on this machine is taken for. */
  readonly anonymous?: Role;
};

/** Routes that come as a set: classic ones, those of a battery. */
export interface Mount {
  readonly name: string;
  readonly routes: readonly Route[];
  /** The queue it is about: a token with a scope is told of it if that queue is in it. Default: about everything. */
  readonly queue?: string | undefined;
  /** Callers without credentials from this machine itself are taken for this role. Default: none. */
  readonly anonymous?: Role | undefined;
  /** What it adds to `/metrics`, in the text format. */
  readonly metrics?: (() => Promise<string>) | undefined;
}

export function route<Query extends z.ZodType | null, Body extends z.ZodType | null>(
  spec: RouteSpec<Query, Body>,
): Route {
  return spec as unknown as Route;
}

/** What an audit entry of the server's says besides who, what and why. */
export type Noted = Pick<AuditNote, "details" | "jobId" | "type" | "queue" | "group">;

/** An answer with a status or headers of its own. */
export class Reply {
  readonly data: unknown;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly noted: Noted;

  constructor(
    data: unknown,
    status: number,
    headers: Readonly<Record<string, string>> = {},
    noted: Noted = {},
  ) {
    this.data = data;
    this.status = status;
    this.headers = headers;
    this.noted = noted;
  }
}
