/**
 * The HTTP API under load, from another process: `node --conditions=@holdfast/source bench/server-load.ts`.
 *
 *   rates      enqueues over HTTP, single and in batches, beside the library's own and a bare route's
 *   kill       20,000 enqueues over 64 connections while a worker process is killed: each ends exactly once
 *   listeners  500 event streams, 50 of which stop reading: memory and delay of the event loop
 */
import { fork, type ChildProcess } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { connect as connectSocket, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { createServer } from "@holdfast/server";
import { createServer as createHttp } from "node:http";
import { Holdfast } from "holdfast";
import { sqliteStore } from "holdfast/sqlite";

const TOKEN = "a-token-for-the-load-test";
const [, , role = "all", ...args] = process.argv;

if (role === "server") await beServer(args[0] as string, args[1] === "bare");
else if (role === "worker") await beWorker(args[0] as string);
else await main(role);

/** Answers its port, then lives until it is killed. */
async function beServer(file: string, isBare: boolean): Promise<void> {
  if (isBare) {
    const db = new DatabaseSync(file);
    db.exec("PRAGMA journal_mode = wal; PRAGMA synchronous = full;");
    db.exec("CREATE TABLE IF NOT EXISTS jobs (id INTEGER PRIMARY KEY, type TEXT, payload TEXT)");
    const insert = db.prepare("INSERT INTO jobs (type, payload) VALUES (?, ?)");
    const app = new Hono();
    app.post("/api/v1/jobs", async (context) => {
      const { type, payload } = await context.req.json<{ type: string; payload: unknown }>();
      const { lastInsertRowid } = insert.run(type, JSON.stringify(payload));
      return context.json({ id: Number(lastInsertRowid) }, 201);
    });
    const http = createHttp(getRequestListener(app.fetch));
    http.listen(0, "127.0.0.1", () => process.send?.(Object(http.address()).port));
    return;
  }
  const hf = new Holdfast({ store: sqliteStore({ file }) });
  const events = { maxClients: 1_000, maxPerCaller: 1_000 };
  const server = createServer(hf, { auth: { adminToken: TOKEN }, enqueue: "any", events });
  const { port } = await server.listen({ port: 0 });
  process.send?.(port);
}

async function beWorker(file: string): Promise<void> {
  const hf = new Holdfast({ store: sqliteStore({ file }), logger: quiet() });
  hf.define({ type: "load", queue: "load", run: async () => null });
  await hf.work({ concurrency: 20 });
  process.send?.("up");
}

function quiet() {
  return { debug() {}, info() {}, warn() {}, error() {} };
}

async function start(
  kind: string,
  ...rest: string[]
): Promise<{ child: ChildProcess; said: unknown }> {
  const child = fork(import.meta.filename, [kind, ...rest], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const said: unknown = await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error(`${kind} ended`)));
  });
  return { child, said };
}

/** Sends bodies over so many connections; answers the ids of what was taken. */
async function send(
  port: number,
  bodies: readonly unknown[],
  connections: number,
): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const ids: string[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < bodies.length) {
        const body = JSON.stringify(bodies[next++]);
        const { status, text } = await post(port, body, agent);
        if (status !== 201) continue;
        const { data } = JSON.parse(text) as { data?: { id?: string; items?: { id: string }[] } };
        ids.push(...(data?.items?.map(({ id }) => id) ?? [data?.id ?? ""]));
      }
    }),
  );
  agent.destroy();
  return ids;
}

function post(port: number, body: string, agent: Agent): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        ...{ agent, port, host: "127.0.0.1", method: "POST", path: "/api/v1/jobs" },
        headers: {
          authorization: `Bearer ${TOKEN}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
        },
      },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (part: string) => (text += part));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    asked.once("error", reject);
    asked.end(body);
  });
}

async function main(what: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-load-"));
  try {
    if (what === "all" || what === "rates") await rates(folder);
    if (what === "all" || what === "kill") await kill(folder);
    if (what === "all" || what === "listeners") await listeners(folder, Number(args[0] ?? 300));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const job = (n: number) => ({ type: "load", queue: "load", payload: { n, text: "x".repeat(150) } });

async function rates(folder: string): Promise<void> {
  const ours = await start("server", join(folder, "a.db"));
  const bare = await start("server", join(folder, "b.db"), "bare");
  const timed = async (count: number, act: () => Promise<unknown>) => {
    const began = performance.now();
    await act();
    return Math.round(count / ((performance.now() - began) / 1000));
  };
  const singles = Array.from({ length: 5_000 }, (_, n) => job(n));
  const batches = Array.from({ length: 200 }, (_, n) => ({
    items: Array.from({ length: 100 }, (__, m) => job(n * 100 + m)),
  }));
  for (const { said } of [ours, bare]) await send(said as number, singles.slice(0, 1_000), 64);
  const single = await timed(5_000, () => send(ours.said as number, singles, 64));
  const bareRate = await timed(5_000, () => send(bare.said as number, singles, 64));
  const batch = await timed(20_000, () => send(ours.said as number, batches, 8));
  ours.child.kill("SIGKILL");
  bare.child.kill("SIGKILL");
  const hf = new Holdfast({ store: sqliteStore({ file: join(folder, "c.db") }), logger: quiet() });
  const own = await timed(20_000, async () => {
    let next = 0;
    const work = async () => {
      while (next < batches.length) {
        const items = batches[next++]?.items ?? [];
        await hf.enqueueAll(items);
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
  });
  await hf.close();
  console.log(
    `single over 64 connections: ${single}/s; a bare route: ${bareRate}/s; share ${(single / bareRate).toFixed(2)}`,
  );
  console.log(
    `in batches of 100: ${batch}/s; the library itself: ${own}/s; share ${(batch / own).toFixed(2)}`,
  );
}

async function kill(folder: string): Promise<void> {
  const file = join(folder, "kill.db");
  const server = await start("server", file);
  const first = await start("worker", file);
  setTimeout(() => first.child.kill("SIGKILL"), 1_500);
  const bodies = Array.from({ length: 20_000 }, (_, n) => job(n));
  const ids = await send(server.said as number, bodies, 64);
  const second = await start("worker", file);
  const hf = new Holdfast({ store: sqliteStore({ file }), logger: quiet() });
  for (;;) {
    const { load } = await hf.counts();
    if (load && load.ready + load.delayed + load.processing === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  let gone = 0;
  let unfinished = 0;
  for (const id of ids) {
    const found = await hf.job(id);
    if (!found) gone += 1;
    else if (found.status !== "succeeded") unfinished += 1;
  }
  const { load } = await hf.counts();
  await hf.close();
  for (const { child } of [server, second]) child.kill("SIGKILL");
  console.log(
    `${ids.length} taken with 2xx of ${bodies.length}; ${gone} gone, ${unfinished} not succeeded; the store has ${load?.succeeded} succeeded, ${load?.dead} dead`,
  );
}

async function listeners(folder: string, seconds: number): Promise<void> {
  const { child, said } = await start("server", join(folder, "events.db"));
  const port = said as number;
  const sockets: Socket[] = [];
  for (let n = 0; n < 500; n += 1) {
    const socket = connectSocket(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
    );
    // Every tenth hears nothing, and does not hang up.
    if (n % 10 === 0) socket.pause();
    else socket.resume();
    sockets.push(socket);
  }
  const resident = async () => {
    const status = await readFile(`/proc/${child.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  };
  const lag = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const text = await answer.text();
    return Number(/^holdfast_event_loop_lag_seconds (\S+)/m.exec(text)?.[1]) * 1000;
  };
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  await wait(60_000);
  const early = await resident();
  await lag();
  await wait(Math.max(0, seconds - 60) * 1000);
  const late = await resident();
  const p99 = await lag();
  for (const socket of sockets) socket.destroy();
  child.kill("SIGKILL");
  console.log(
    `500 listeners, 50 of which stop reading: ${early.toFixed(0)} MiB after a minute, ${late.toFixed(0)} MiB after ${seconds} s (${(late / early).toFixed(2)}); event loop p99 ${p99.toFixed(1)} ms`,
  );
}
