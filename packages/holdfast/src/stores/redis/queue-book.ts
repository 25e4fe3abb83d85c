/**
 * Which queues there are. On one server the scripts write that down themselves. In a cluster the list
 * is in a slot of its own: a queue is listed before its first job, so that no job is ever in a queue
 * that nobody knows of.
 */
import { escaped, unescaped } from "./keys.ts";
import { list, text } from "./reply.ts";
import type { Server } from "./server.ts";

export class QueueBook {
  readonly #server: Server;
  readonly #listed = new Set<string>();

  constructor(server: Server) {
    this.#server = server;
  }

  async all(): Promise<string[]> {
    const names = list(await this.#server.command("SMEMBERS", this.#server.keys.queues));
    return names.map((name) => unescaped(text(name))).sort();
  }

  /** To be called before anything is put into these. */
  async list(queues: readonly string[]): Promise<void> {
    if (!this.#server.isCluster) return;
    await this.#add(queues.filter((queue) => !this.#listed.has(queue)));
  }

  /** A queue that was new to its script may have been listed before the server lost everything. */
  async made(queues: readonly string[]): Promise<void> {
    if (this.#server.isCluster) await this.#add(queues);
  }

  /**
   * Their scripts have forgotten these. In a cluster that is written down here; a job may have come between, and
   * then the queue is listed again.
   */
  async forgotten(queues: readonly string[]): Promise<void> {
    for (const queue of queues) this.#listed.delete(queue);
    if (!this.#server.isCluster || queues.length === 0) return;
    const { keys } = this.#server;
    await this.#server.command("SREM", keys.queues, ...queues.map(escaped));
    for (const queue of queues) {
      const isMade = await this.#server.command("HEXISTS", `${keys.base(queue)}m`, "made");
      if (Number(isMade) === 1) await this.#add([queue]);
    }
  }

  async #add(queues: readonly string[]): Promise<void> {
    if (queues.length === 0) return;
    await this.#server.command("SADD", this.#server.keys.queues, ...queues.map(escaped));
    for (const queue of queues) this.#listed.add(queue);
  }
}
