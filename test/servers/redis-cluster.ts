/** A Redis cluster for tests: three nodes on this machine, each with a third of the slots. */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { startOwnRedis, type OwnRedis } from "./redis.ts";
import type { TestServer } from "./server-desk.ts";

const NODES = 3;
const SLOTS = 16_384;
const AGREE_DEADLINE_MS = 30_000;
/** The nodes talk to each other on this port above their own, and there are only so many ports. */
const BUS_OFFSET = 10_000;
const MOST_PORT = 65_535 - BUS_OFFSET;

export interface RedisCluster extends TestServer {
  readonly nodes: readonly OwnRedis[];
  /** One that belongs to no cluster yet. */
  startSpare(): Promise<OwnRedis>;
  /** One more node, without slots; all others know of it. */
  addNode(spare?: OwnRedis): Promise<OwnRedis>;
}

export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes: OwnRedis[] = [];
  const spares = new Set<OwnRedis>();
  const stop = async (): Promise<void> => {
    for (const node of [...nodes, ...spares]) await node.stop();
  };
  try {
    for (let node = 0; node < NODES; node++) nodes.push(await startNode());
    await join(nodes);
    const [first] = nodes;
    const how = `${NODES} nodes of ${first?.how ?? ""}`;
    const startSpare = async (): Promise<OwnRedis> => {
      const node = await startNode();
      spares.add(node);
      return node;
    };
    const addNode = async (spare?: OwnRedis): Promise<OwnRedis> => {
      const node = spare ?? (await startNode());
      spares.delete(node);
      nodes.push(node);
      await ask(node.port, `CLUSTER MEET 127.0.0.1 ${first?.port ?? 0}`);
      await agreed(nodes);
      return node;
    };
    return { url: first?.url ?? "", how, nodes, startSpare, addNode, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startNode(): Promise<OwnRedis> {
  const settings = [
    ...["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"],
    // Else a node that gives its last slot away would become a replica.
    ...["--cluster-allow-replica-migration", "no"],
  ];
  return startOwnRedis({ port: await clusterPort(), settings });
}

async function clusterPort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port <= MOST_PORT) return port;
    // Free ports are handed out from the top half: fold them into the lower one.
    const folded = 1_024 + (port % (MOST_PORT - 1_024));
    if (await isFree(folded)) return folded;
  }
}

async function isFree(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}

async function join(nodes: readonly OwnRedis[]): Promise<void> {
  const [first] = nodes;
  if (first === undefined) return;
  for (const [index, { port }] of nodes.entries()) {
    const from = Math.floor((index * SLOTS) / NODES);
    const to = Math.floor(((index + 1) * SLOTS) / NODES) - 1;
    await ask(port, `CLUSTER ADDSLOTSRANGE ${from} ${to}`);
    await ask(port, `CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
    if (index > 0) await ask(port, `CLUSTER MEET 127.0.0.1 ${first.port}`);
  }
  await agreed(nodes);
}

async function agreed(nodes: readonly OwnRedis[]): Promise<void> {
  const deadlineAt = Date.now() + AGREE_DEADLINE_MS;
  const all = `cluster_known_nodes:${nodes.length}`;
  for (const { port } of nodes) {
    // The nodes gossip: nobody can be asked to tell when they have agreed.
    for (;;) {
      const info = await ask(port, "CLUSTER INFO");
      if (info.includes("cluster_state:ok") && info.includes(all)) break;
      if (Date.now() > deadlineAt) throw new Error(`the Redis cluster does not agree: ${info}`);
      await sleep(50);
    }
  }
}

/** One command in the words of redis-cli, and the server's first answer. */
async function ask(port: number, command: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.setEncoding("utf8");
  socket.write(`${command}\r\n`);
  const [answer] = (await once(socket, "data")) as [string];
  socket.destroy();
  if (answer.startsWith("-")) throw new Error(`${command}: ${answer}`);
  return answer;
}
