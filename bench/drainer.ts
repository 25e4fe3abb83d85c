/** Workers in a process of their own, which says how many jobs it has started. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { contenderNamed, type StoreName } from "./contenders/index.ts";

const FILE = fileURLToPath(import.meta.url);
/** So often it says so: rarely enough to cost nothing. */
const SAID_EVERY = 50;
/** Longer than any scenario needs it: a process that hangs is ended. */
const PATIENCE_MS = 300_000;

interface Order {
  readonly store: StoreName;
  readonly contender: string;
  readonly place: string;
  /** How many of them. Default 1. */
  readonly workers?: number;
}

/** Resolves once it is open; it works after `go`. */
export async function startDrainer(
  order: Order,
  onStarted: (jobs: number) => void,
): Promise<{ go(): void; stop(): Promise<void> }> {
  const child = fork(FILE, [JSON.stringify(order)], {
    timeout: PATIENCE_MS,
    killSignal: "SIGKILL",
  });
  const exited = once(child, "exit");
  const refuse = ([code]: unknown[]): never => {
    throw new Error(`a worker process ended with ${String(code)} before it began`);
  };
  await Promise.race([once(child, "message"), exited.then(refuse)]);
  child.on("message", (jobs: number) => onStarted(jobs));
  return {
    go: () => void child.send("go"),
    async stop() {
      if (child.connected) child.send("stop");
      const [code] = await exited;
      if (code !== 0) throw new Error(`a worker process ended with ${String(code)}`);
    },
  };
}

async function work({ store, contender, place, workers = 1 }: Order): Promise<void> {
  const session = await (await contenderNamed(store, contender)).open(place, { keep: true });
  // Whoever asked is gone.
  const onGone = (): never => process.exit(1);
  process.once("disconnect", onGone);
  process.send?.("ready");
  await once(process, "message");
  let started = 0;
  const onJob = (): void => {
    if (++started % SAID_EVERY === 0) process.send?.(SAID_EVERY);
  };
  const stops: (() => Promise<void>)[] = [];
  for (let worker = 0; worker < workers; worker += 1) stops.push(await session.run(onJob));
  await once(process, "message");
  await Promise.all(stops.map((stop) => stop()));
  await session.close();
  process.off("disconnect", onGone);
  process.disconnect?.();
}

if (process.argv[1] === FILE) await work(JSON.parse(process.argv[2] ?? "") as Order);
