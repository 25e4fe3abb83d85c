/** The processes of the load test: this same program, started again as a server, a bare route or a worker. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { createServer } from "@holdfast/server";
import { Hono } from "hono";
import { Holdfast, type Logger } from "holdfast";
import { sqliteStore } from "holdfast/sqlite";

export const TOKEN = "a-token-for-the-load-test";
export const QUIET: Logger = { debug() {}, info() {}, warn() {}, error() {} };

const ROLES = { "be-server": beServer, "be-bare": beBare, "be-worker": beWorker };
type Role = keyof typeof ROLES;

/** True: this process is one of them, and lives until it is killed. */
export async function beProcess([role = "", file = ""]: readonly string[]): Promise<boolean> {
  if (!Object.hasOwn(ROLES, role)) return false;
  process.send?.(await ROLES[role as Role](file));
  // A parent that is gone leaves none behind.
  process.once("disconnect", () => process.exit(0));
  return true;
}

export interface Started {
  /** Of a server. */
  readonly port: number;
  readonly pid: number;
  kill(): Promise<void>;
}

export async function start(role: Role, file: string): Promise<Started> {
  const child: ChildProcess = fork(new URL("main.ts", import.meta.url), [role, file], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const ended = once(child, "exit");
  const said: unknown = await Promise.race([
    once(child, "message").then(([port]: unknown[]) => port),
    ended.then(() => Promise.reject(new Error(`${role} ended before it was up`))),
  ]);
  return {
    ...{ port: said as number, pid: child.pid as number },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

async function beServer(file: string): Promise<number> {
  const hf = new Holdfast({ store: sqliteStore({ file }) });
  const events = { maxClients: 1_000, maxPerCaller: 1_000 };
  const server = createServer(hf, { auth: { adminToken: TOKEN }, enqueue: "any", events });
  return (await server.listen({ port: 0 })).port;
}

/** What a person would write in ten lines: one row a request, as safe on the disk as ours. */
async function beBare(file: string): Promise<number> {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA journal_mode = wal; PRAGMA synchronous = full;");
  db.exec("CREATE TABLE IF NOT EXISTS jobs (id INTEGER PRIMARY KEY, type TEXT, payload TEXT)");
  const insert = db.prepare("INSERT INTO jobs (type, payload) VALUES (?, ?)");
  const app = new Hono();
  app.post("/api/v1/jobs", async (context) => {
    const { type, payload } = await context.req.json<{ type: string; payload: unknown }>();
    const { lastInsertRowid } = insert.run(type, JSON.stringify(payload));
    return context.json({ data: { id: String(lastInsertRowid) } }, 201);
  });
  const listener = getRequestListener(app.fetch);
  const http = createHttp((asked, answer) => void listener(asked, answer));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return (http.address() as AddressInfo).port;
}

async function beWorker(file: string): Promise<number> {
  const hf = new Holdfast({ store: sqliteStore({ file }), logger: QUIET });
  // Long enough that some of them run whenever it is killed.
  hf.define({ type: "load", queue: "load", run: () => pause(5) });
  await hf.work({ concurrency: 20 });
  return 0;
}
