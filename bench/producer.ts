/** Enqueues from a process of its own, when it is told to: the other end of the latency across processes. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { contenderNamed, type StoreName } from "./contenders/index.ts";
import { payloadOf, sharedNow } from "./payload.ts";

const FILE = fileURLToPath(import.meta.url);

interface Order {
  readonly store: StoreName;
  readonly contender: string;
  readonly place: string;
}

export async function startProducer(order: Order): Promise<{
  enqueue(number: number): void;
  stop(): Promise<void>;
}> {
  const child = fork(FILE, [JSON.stringify(order)]);
  const exited = once(child, "exit");
  await Promise.race([once(child, "message"), exited.then(refuse)]);
  return {
    enqueue: (number) => void child.send(number),
    async stop() {
      child.disconnect();
      await exited;
    },
  };
}

function refuse([code]: unknown[]): never {
  throw new Error(`the producer process ended with ${String(code)} before it began`);
}

async function produce({ store, contender, place }: Order): Promise<void> {
  const session = await (await contenderNamed(store, contender)).open(place, { keep: true });
  process.on("message", (number: number) => {
    // The clock starts here: how the order travelled to this process is not the contender's business.
    void session.enqueue(payloadOf(number, sharedNow()));
  });
  const ended = once(process, "disconnect");
  process.send?.("ready");
  await ended;
  await session.close();
}

if (process.argv[1] === FILE) await produce(JSON.parse(process.argv[2] ?? "") as Order);
