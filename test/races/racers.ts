/** The racing processes: started, told what to do at the same moment and, whatever happens, ended. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Answers, Order, Reply } from "./orders.ts";

const PROGRAM = fileURLToPath(new URL("racer.ts", import.meta.url));

export class Racers {
  readonly #children: readonly ChildProcess[];

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children;
  }

  /** Resolves once all are up. */
  static async start(count: number): Promise<Racers> {
    // Without the flags of the test runner's own process.
    const start = () => fork(PROGRAM, { execPath: process.execPath, execArgv: [] });
    const children = Array.from({ length: count }, start);
    const racers = new Racers(children);
    try {
      await Promise.all(children.map(nextReply));
      return racers;
    } catch (error) {
      await racers.end();
      throw error;
    }
  }

  /** Only the first so many of them. They end with the others. */
  first(count: number): Racers {
    return new Racers(this.#children.slice(0, count));
  }

  /** Each gets its own order, all in the same turn; answers in the order of the racers. */
  async all<What extends Order["what"]>(
    orderFor: (racer: number) => Extract<Order, { readonly what: What }>,
  ): Promise<Answers[What][]> {
    const replies = this.#children.map(nextReply);
    for (const [racer, child] of this.#children.entries()) child.send(orderFor(racer));
    const answers = (await Promise.all(replies)).map((reply) => {
      if (reply.what === "answer") return reply.answer as Answers[What];
      throw new Error(reply.what === "trouble" ? reply.text : "a racer started again");
    });
    return answers;
  }

  async end(): Promise<void> {
    const alive = this.#children.filter(
      ({ exitCode, signalCode }) => (exitCode ?? signalCode) === null,
    );
    const exits = alive.map((child) => once(child, "exit"));
    for (const child of alive) child.kill("SIGKILL");
    await Promise.all(exits);
  }
}

async function nextReply(child: ChildProcess): Promise<Reply> {
  const settled = new AbortController();
  const { signal } = settled;
  try {
    return await Promise.race([
      once(child, "message", { signal }).then(([reply]) => reply as Reply),
      once(child, "exit", { signal }).then(([code]) => {
        throw new Error(`a racer exited with ${String(code)} before it answered`);
      }),
    ]);
  } finally {
    settled.abort();
  }
}
