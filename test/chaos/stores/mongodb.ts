/** A replica set of three nodes. Its primary is killed, and the others elect another. */
import { setTimeout as pause } from "node:timers/promises";
import { MongoClient } from "mongodb";
import { mongodbStore } from "../../../packages/holdfast/src/stores/mongodb/index.ts";
import { startReplicaSet, type ReplicaSet } from "../../servers/mongodb.ts";
import type { ChaosStore, ChaosTransactions, StartedStore } from "../chaos-store.ts";
import { monotonicMs } from "../witness.ts";

const NODES = 3;
const DATABASE = "chaos";
const WRITE_PATIENCE_MS = 150;
/** A server that fell silent is given up after seconds. The driver's own are 30 s and 10 s. */
const PATIENCE = { connectTimeoutMS: 3_000, heartbeatFrequencyMS: 2_000 };
/** The server ends what a dead client left open; it looks every half of this. Handlers take 16 s at most. */
const PARAMETERS = { transactionLifetimeLimitSeconds: 20 };
const HEAL_DEADLINE_MS = 60_000;
/** As the server numbers them. */
const PRIMARY = 1;
const SECONDARY = 2;

export const mongodb: ChaosStore = {
  start: async () => startOn(await startReplicaSet({ nodes: NODES, parameters: PARAMETERS })),
  open: (url) => mongodbStore({ url }),
  openWithTransactions,
};

/** The store has a client of its own, and the handlers have theirs, as the guide has it. */
function openWithTransactions(url: string): ChaosTransactions {
  const client = new MongoClient(url, { writeConcern: { w: "majority" }, ...PATIENCE });
  return {
    store: mongodbStore({ url }),
    async begin() {
      const tx = client.startSession();
      tx.startTransaction();
      const ended = async (end: () => Promise<void>): Promise<void> => {
        try {
          await end();
        } finally {
          await tx.endSession();
        }
      };
      return {
        tx,
        commit: () => ended(() => tx.commitTransaction()),
        rollback: () => ended(() => tx.abortTransaction()),
      };
    },
  };
}

function startOn(set: ReplicaSet): StartedStore {
  const url = set.url.replace("/?", `/${DATABASE}?`);
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 1_000 });
  let resuming: Promise<void> = Promise.resolve();

  async function canWrite(): Promise<boolean> {
    const watch = client.db("chaos_watch").collection("watch");
    const writing = watch.updateOne(
      { name: "watch" },
      { $inc: { writes: 1 } },
      { upsert: true, writeConcern: { w: "majority" } },
    );
    const isWritten = writing.then(
      () => true,
      () => false,
    );
    return Promise.race([isWritten, pause(WRITE_PATIENCE_MS, false)]);
  }

  async function isComplete(): Promise<boolean> {
    try {
      const status = await client.db("admin").command({ replSetGetStatus: 1 });
      const members = status["members"] as readonly { readonly state: number }[];
      return members.every(({ state }) => state === PRIMARY || state === SECONDARY);
    } catch {
      return false;
    }
  }

  return {
    url,
    nodes: hostsOf(url),
    server: {
      isWhole: false,
      async ready() {
        await resuming;
        await until(isComplete);
      },
      halt: () => set.killPrimary(),
      // The store is back with the election. The node that was killed may take its time.
      async resume() {
        await until(canWrite);
        resuming = set.resume();
        resuming.catch(() => {});
      },
    },
    canWrite,
    integrity: () => misplaced(client),
    async stop() {
      await resuming.catch(() => {});
      await client.close();
      await set.stop();
    },
  };
}

function hostsOf(url: string): string[] {
  return /^mongodb:\/\/([^/]+)/.exec(url)?.[1]?.split(",") ?? [];
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = monotonicMs() + HEAL_DEADLINE_MS;
  while (!(await isTrue())) {
    if (monotonicMs() > deadline) throw new Error("the replica set does not come back");
    await pause(20);
  }
}

/** Every job stands in the one place of its status, and nothing is left to follow from a settle. */
async function misplaced(client: MongoClient): Promise<string[]> {
  const found: string[] = [];
  for await (const job of client.db(DATABASE).collection("holdfast_jobs").find()) {
    const name = String(job["_id"]);
    const status = String(job["status"]);
    const places = ["ready", "due", "leased"].filter((place) => place in job).join(", ");
    if (!placesOf(status).includes(places)) found.push(`${name} is ${status}, and in "${places}"`);
    if ("followUps" in job) found.push(`${name} has follow-ups that nobody did`);
  }
  for await (const { _id } of client.db(DATABASE).collection("holdfast_fresh").find()) {
    found.push(`${String(_id)} has not been taken`);
  }
  return found;
}

function placesOf(status: string): readonly string[] {
  if (status === "queued") return ["ready", "due"];
  return [status === "processing" ? "leased" : ""];
}
