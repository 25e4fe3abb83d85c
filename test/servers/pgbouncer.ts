/**
 * A pgbouncer, in transaction mode unless told otherwise, in front of a PostgreSQL server, by the first way that
 * works:
 *
 * 1. A `pgbouncer` on this machine.
 * 2. On Debian, for root: `apt-get install pgbouncer`.
 *
 * Every transaction gets another connection (`server_round_robin`), so whoever counts on getting the
 * same one twice is found out at once. It refuses to run as root, so root hands it to another user.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fromDebianPackage } from "./debian-package.ts";
import { freePort } from "./free-port.ts";
import { unprivilegedUser } from "./postgres.ts";
import type { TestServer } from "./server-desk.ts";

const READY = "process up";
const START_DEADLINE_MS = 20_000;
const STOP_DEADLINE_MS = 5_000;

export async function startPgbouncer(
  serverUrl: string,
  mode: "transaction" | "session" = "transaction",
): Promise<TestServer> {
  const binary = await pgbouncerBinary();
  const user = unprivilegedUser();
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "holdfast-pgbouncer-"));
  try {
    const file = join(folder, "pgbouncer.ini");
    await writeFile(file, settingsFor(new URL(serverUrl), port, mode));
    if (user !== null) {
      for (const path of [folder, file]) await chown(path, user.uid, user.gid);
    }
    const bouncer = spawn(binary, [file], {
      stdio: ["ignore", "ignore", "pipe"],
      ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
    });
    await ready(bouncer);
    // However this process ends, its bouncer does not stay behind.
    const kill = (): void => void bouncer.kill("SIGKILL");
    process.once("exit", kill);
    const url = new URL(serverUrl);
    url.host = `127.0.0.1:${port}`;
    return {
      url: url.href,
      how: `${binary}, port ${port}${user === null ? "" : `, as user ${user.name}`}`,
      async stop() {
        process.removeListener("exit", kill);
        await stopped(bouncer);
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function settingsFor(server: URL, port: number, mode: string): string {
  const password = decodeURIComponent(server.password);
  const target = [
    `host=${server.hostname}`,
    `port=${server.port === "" ? 5432 : server.port}`,
    `dbname=${decodeURIComponent(server.pathname.slice(1))}`,
    `user=${decodeURIComponent(server.username)}`,
    ...(password === "" ? [] : [`password='${password.replaceAll("'", "''")}'`]),
  ];
  return [
    "[databases]",
    `* = ${target.join(" ")}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    `pool_mode = ${mode}`,
    "server_round_robin = 1",
    "default_pool_size = 20",
    "max_client_conn = 200",
    "",
  ].join("\n");
}

async function ready(bouncer: ChildProcess): Promise<void> {
  let said = "";
  await new Promise<void>((resolve, reject) => {
    const fail = (what: string): void => {
      clearTimeout(late);
      bouncer.kill("SIGKILL");
      reject(new Error(`pgbouncer ${what}: ${said}`));
    };
    const late = setTimeout(() => fail("is not ready"), START_DEADLINE_MS);
    bouncer.once("error", (error) => fail(error.message));
    bouncer.once("exit", () => fail("ended at once"));
    bouncer.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4_000);
      if (!said.includes(READY)) return;
      clearTimeout(late);
      resolve();
    });
  });
}

/** SIGINT lets nobody in any more and waits for those inside, SIGTERM does not wait. */
async function stopped(bouncer: ChildProcess): Promise<void> {
  if (bouncer.exitCode !== null || bouncer.signalCode !== null) return;
  const gone = once(bouncer, "exit");
  bouncer.kill("SIGTERM");
  const late = setTimeout(() => bouncer.kill("SIGKILL"), STOP_DEADLINE_MS);
  await gone;
  clearTimeout(late);
}

export async function pgbouncerBinary(): Promise<string> {
  const found = onMachine();
  if (found !== null) return found;
  const installed = await fromDebianPackage("pgbouncer", onMachine);
  if (installed !== null) return installed;
  throw new Error("no pgbouncer here: install one (Debian: apt-get install pgbouncer)");
}

function onMachine(): string | null {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  // Where distributions put it, on the path of root only.
  const folders = [...onPath, "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"];
  const files = folders.map((folder) => join(folder, "pgbouncer"));
  return files.find((file) => existsSync(file)) ?? null;
}
