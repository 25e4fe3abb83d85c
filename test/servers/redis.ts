/**
 * A Redis server for tests, by the first way that works:
 *
 * 1. `HOLDFAST_TEST_REDIS_URL` names one. Tests use keys of their own and leave none behind.
 * 2. A `redis-server` (or `valkey-server`) on this machine.
 * 3. On Debian as root: `apt-get install redis-server`, and then as before.
 *
 * A server of our own lives in a temporary folder on a free port of this machine. It keeps an
 * append-only file, written without waiting for the disk: tests ask what a crash of processes leaves
 * behind, never what a power loss does.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fromDebianPackage } from "./debian-package.ts";
import { freePort } from "./free-port.ts";
import { isAlive } from "./is-alive.ts";
import type { TestServer } from "./server-desk.ts";

const URL_VARIABLE = "HOLDFAST_TEST_REDIS_URL";
const FOLDER_PREFIX = "holdfast-redis-";
const READY = "Ready to accept connections";
const START_DEADLINE_MS = 30_000;
const STOP_DEADLINE_MS = 10_000;

export interface RedisSettings {
  /** Instead of a free one: to come back on the port where it was before. */
  readonly port?: number;
  /** Further settings, as `--name value`. */
  readonly settings?: readonly string[];
}

/** The shared server of a test run. */
export async function startRedis(): Promise<TestServer> {
  const url = process.env[URL_VARIABLE];
  if (url !== undefined && url !== "") {
    return { url, how: `the one of ${URL_VARIABLE}`, stop: async () => {} };
  }
  return startOwnRedis();
}

export interface OwnRedis extends TestServer {
  readonly port: number;
  /** Ends it: in order, or as kill -9 does. Its data stay. */
  halt(how: "fast" | "kill"): Promise<void>;
  /** Starts it again on the same port and data. */
  resume(): Promise<void>;
}

/** A server of one's own, to be restarted or killed at will. */
export async function startOwnRedis(settings: RedisSettings = {}): Promise<OwnRedis> {
  await stopAbandoned();
  const { binary, from } = await redisBinary();
  const folder = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
  try {
    await writeFile(join(folder, "owner"), String(process.pid));
    const port = settings.port ?? (await freePort());
    const run = { binary, folder, port, settings: settings.settings ?? [] };
    let server = await running(run);
    return {
      url: `redis://127.0.0.1:${port}`,
      port,
      how: `${from}, port ${port}`,
      async stop() {
        await stopped(server, "SIGTERM");
        await rm(folder, { recursive: true, force: true });
      },
      halt: (how) => stopped(server, how === "fast" ? "SIGTERM" : "SIGKILL"),
      async resume() {
        server = await running(run);
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

interface Run {
  readonly binary: string;
  readonly folder: string;
  readonly port: number;
  readonly settings: readonly string[];
}

async function running({ binary, folder, port, settings }: Run): Promise<ChildProcess> {
  const server = spawn(
    binary,
    [
      ...["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""],
      ...["--appendonly", "yes", "--appendfsync", "no", "--daemonize", "no"],
      ...["--pidfile", join(folder, "pid"), "--maxmemory-policy", "noeviction"],
      ...settings,
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  if (server.pid !== undefined) await writeFile(join(folder, "server"), String(server.pid));
  let said = "";
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(
      () => fail(new Error(`${binary} is not ready: ${said}`)),
      START_DEADLINE_MS,
    );
    const fail = (error: Error): void => {
      clearTimeout(late);
      server.kill("SIGKILL");
      reject(error);
    };
    server.once("error", fail);
    server.once("exit", () => fail(new Error(`${binary} ended at once: ${said}`)));
    for (const stream of [server.stdout, server.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        said = (said + text).slice(-4_000);
        if (!said.includes(READY)) return;
        clearTimeout(late);
        resolve();
      });
    }
  });
  return server;
}

async function stopped(server: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, "exit");
  server.kill(signal);
  const late = setTimeout(() => server.kill("SIGKILL"), STOP_DEADLINE_MS);
  await gone;
  clearTimeout(late);
}

/** A run that was killed leaves its server behind; the next one stops it. */
async function stopAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(FOLDER_PREFIX)) continue;
    const folder = join(tmpdir(), name);
    const owner = Number(await readFile(join(folder, "owner"), "utf8").catch(() => ""));
    if (!(owner > 0) || isAlive(owner)) continue;
    const pid = Number(await readFile(join(folder, "server"), "utf8").catch(() => ""));
    if (pid > 0 && (await isRedis(pid))) process.kill(pid, "SIGKILL");
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

/** The number of a process that has ended may be somebody else's by now. */
async function isRedis(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return /(redis|valkey)-server/.test(command);
}

export async function redisBinary(): Promise<{ readonly binary: string; readonly from: string }> {
  const found = onPath();
  if (found !== null) return { binary: found, from: found };
  const installed = await fromDebianPackage("redis-server", onPath);
  if (installed !== null) return { binary: installed, from: `${installed}, by apt-get` };
  throw new Error(
    `set ${URL_VARIABLE}, or install Redis 7 or newer (Debian: apt-get install redis-server)`,
  );
}

function onPath(): string | null {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/usr/local/bin"];
  const files = folders.flatMap((folder) =>
    ["redis-server", "valkey-server"].map((name) => join(folder, name)),
  );
  return files.find((file) => file.startsWith("/") && existsSync(file)) ?? null;
}
