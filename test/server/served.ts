/** A server on a real port over a real store, and a way to call it. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type HoldfastServer, type ServerOptions } from "@holdfast/server";
import { Holdfast, type HoldfastOptions, type Logger, type Store } from "holdfast";
import { mongodbStore } from "holdfast/mongodb";
import { postgresStore } from "holdfast/postgres";
import { redisStore } from "holdfast/redis";
import { sqliteStore } from "holdfast/sqlite";
import { postgresDatabase } from "../servers/postgres-database.ts";
import { serverUrl } from "../servers/server-desk.ts";

export const STORE_NAMES = ["sqlite", "postgres", "redis", "mongodb"] as const;
export type StoreName = (typeof STORE_NAMES)[number];
export const ADMIN_TOKEN = "an-admin-token-for-tests-only";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a server sends is read as it comes
  readonly json: any;
}

export interface CallOptions {
  /** Null: none. Default: the admin's. */
  readonly token?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** As it is, instead of a body. */
  readonly raw?: string | Uint8Array;
}

export interface Served {
  readonly hf: Holdfast;
  readonly server: HoldfastServer;
  readonly url: string;
  /** What the server logged. */
  readonly said: string[];
  /** What it printed. */
  readonly printed: string[];
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** The data of a success. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what a server sends is read as it comes
  data(method: string, path: string, options?: CallOptions): Promise<any>;
  token(role: string, queues?: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

export async function openStore(name: StoreName): Promise<{ store: Store; drop(): Promise<void> }> {
  const own = `test_${randomBytes(6).toString("hex")}`;
  if (name === "postgres") {
    const { url, drop } = await postgresDatabase();
    return { store: postgresStore({ url }), drop };
  }
  if (name === "redis") {
    return { store: redisStore({ url: await serverUrl("redis"), prefix: own }), async drop() {} };
  }
  if (name === "mongodb") {
    const url = new URL(await serverUrl("mongodb"));
    url.pathname = `/${own}`;
    return { store: mongodbStore({ url: url.href }), async drop() {} };
  }
  const folder = await mkdtemp(join(tmpdir(), "holdfast-server-"));
  const store = sqliteStore({ file: join(folder, "jobs.db"), synchronous: "normal" });
  return { store, drop: () => rm(folder, { recursive: true, force: true }) };
}

export async function serve(
  name: StoreName,
  /** Or what makes them, for mounts that stand on the Holdfast. */
  given: ServerOptions | ((hf: Holdfast) => Promise<ServerOptions>) = {},
  more: Partial<HoldfastOptions> & { readonly link?: (store: Store) => Store } = {},
): Promise<Served> {
  const { store, drop } = await openStore(name);
  const said: string[] = [];
  const printed: string[] = [];
  const note = (message: string, about?: unknown) =>
    void said.push(`${message} ${JSON.stringify(about, (_, value: unknown) => shown(value))}`);
  const logger: Logger = { debug() {}, info() {}, warn: note, error: note };
  const { link = (one: Store) => one, ...rest } = more;
  const hf = new Holdfast({ logger, ...rest, store: link(store) } as HoldfastOptions) as Holdfast;
  const options = typeof given === "function" ? await given(hf) : given;
  const server = createServer(hf, {
    ...{ auth: { adminToken: ADMIN_TOKEN }, checkAnswers: true },
    print: (line) => void printed.push(line),
    ...options,
  });
  const { url } = await server.listen({ port: 0 });
  const call: Served["call"] = async (method, path, about = {}) => {
    const { token = ADMIN_TOKEN, body, headers, raw } = about;
    const answer = await fetch(url + path, {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(raw !== undefined && { body: raw as string }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
    return {
      ...{ status: answer.status, headers: answer.headers, text },
      json: isJson ? (JSON.parse(text) as unknown) : null,
    };
  };
  const data: Served["data"] = async (method, path, about) => {
    const { status, json, text } = await call(method, path, about);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return (json as { data: unknown }).data;
  };
  return {
    ...{ hf, server, url, said, printed, call, data },
    async token(role, queues) {
      const body = { role, name: role, ...(queues && { queues }) };
      const { secret } = (await data("POST", "/api/v1/tokens", { body })) as { secret: string };
      return secret;
    },
    async close() {
      await server.close();
      await hf.close({ graceMs: 0 });
      await drop();
    },
  };
}

function shown(value: unknown): unknown {
  return value instanceof Error ? `${value.name}: ${value.message}` : value;
}

/** A job that has died, of a message. */
export async function deadJob(hf: Holdfast, type: string, payload: unknown): Promise<string> {
  const { id } = await hf.enqueue(type as never, payload as never);
  await hf.waitFor(id, { timeoutMs: 20_000 });
  return id;
}
