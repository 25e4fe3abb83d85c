/** The server, the worker and the producer: this same program, started again for each. Any of them tells what it did. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { createServer } from "@holdfast/server";
import { Holdfast } from "holdfast";
import { storeOfUrl } from "holdfast/connect";
import { JOB_TYPE, payloadOf, type Payload } from "../payload.ts";
import { countedStore, type StoreCalls } from "./counted-store.ts";
import { JOBS_PER_SECOND, QUIET, TENANTS, TOKEN } from "./names.ts";

const PUTS_PER_SECOND = 10;
/** At 200 ms each, a little more than what comes in. */
const SLOTS = 22;
const RUN_MS = 200;
const START_DEADLINE_MS = 60_000;

/** What a process is asked for with any message: what it did since the last one. */
interface Told {
  readonly "be-server": StoreCalls;
  readonly "be-worker": { readonly ended: number };
  readonly "be-producer": { readonly added: number };
}
type Role = keyof Told;
interface Up<Name extends Role> {
  /** Of a server. */
  readonly url: string | null;
  readonly tell: () => Told[Name];
}

const ROLES: { readonly [Name in Role]: (store: string) => Promise<Up<Name>> } = {
  "be-server": beServer,
  "be-worker": beWorker,
  "be-producer": beProducer,
};

/** True: this process is one of them, and lives until it is killed or its parent is gone. */
export async function beProcess([role = "", store = ""]: readonly string[]): Promise<boolean> {
  if (!Object.hasOwn(ROLES, role)) return false;
  process.once("disconnect", () => process.exit(0));
  const { url, tell } = await ROLES[role as Role](store);
  process.on("message", () => process.send?.(tell()));
  process.send?.({ url });
  return true;
}

export interface Started<Name extends Role> {
  readonly url: string;
  readonly ask: () => Promise<Told[Name]>;
  kill(): Promise<void>;
}

export async function start<Name extends Role>(role: Name, store: string): Promise<Started<Name>> {
  const child: ChildProcess = fork(new URL("main.ts", import.meta.url), [role, store], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const ended = once(child, "exit");
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  const next = async (): Promise<unknown> => {
    const signal = AbortSignal.timeout(START_DEADLINE_MS);
    const gone = ended.then(() => Promise.reject(new Error(`${role} has ended`)));
    const [said] = (await Promise.race([once(child, "message", { signal }), gone])) as unknown[];
    return said;
  };
  try {
    const { url } = (await next()) as { url: string | null };
    return {
      ...{ url: url ?? "", kill },
      async ask() {
        const answer = next();
        child.send("tell");
        return (await answer) as Told[Name];
      },
    };
  } catch (error) {
    await kill();
    throw error;
  }
}

async function beServer(url: string): Promise<Up<"be-server">> {
  const counted = countedStore(await storeOfUrl(url));
  const hf = new Holdfast({ store: counted.store, logger: QUIET });
  const server = createServer(hf, { auth: { adminToken: TOKEN }, environment: { name: "bench" } });
  return { url: (await server.listen({ port: 0 })).url, tell: () => counted.take() };
}

async function beWorker(url: string): Promise<Up<"be-worker">> {
  const hf = new Holdfast({ store: await storeOfUrl(url), logger: QUIET });
  let ended = 0;
  hf.define({
    ...{ type: JOB_TYPE, queue: TENANTS, retry: { maxAttempts: 1 } },
    async run({ payload }: { readonly payload: unknown }) {
      await pause(RUN_MS);
      ended += 1;
      const { order } = payload as Payload;
      if (order % 50 === 0) throw new Error(`HTTP 503 of the carrier ${order % 7}`);
    },
  });
  await hf.work({ queues: [TENANTS], concurrency: SLOTS });
  const tell = () => {
    const told = { ended };
    ended = 0;
    return told;
  };
  return { url: null, tell };
}

async function beProducer(url: string): Promise<Up<"be-producer">> {
  const hf = new Holdfast({ store: await storeOfUrl(url), logger: QUIET });
  const perPut = JOBS_PER_SECOND / PUTS_PER_SECOND;
  let [added, order, isBusy] = [0, 0, false];
  const put = async () => {
    const items = Array.from({ length: perPut }, () => ({
      ...{ type: JOB_TYPE, payload: payloadOf((order += 1)), queue: TENANTS },
      group: `tenant-${order % 10_000}`,
    }));
    isBusy = true;
    await hf.enqueueAll(items);
    isBusy = false;
    added += perPut;
  };
  // A store that is slower than that gets fewer: the figures say how many there were.
  setInterval(() => void (isBusy ? null : put()), 1_000 / PUTS_PER_SECOND);
  const tell = () => {
    const told = { added };
    added = 0;
    return told;
  };
  return { url: null, tell };
}
