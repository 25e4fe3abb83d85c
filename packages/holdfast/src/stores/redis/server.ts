/**
 * The way to the server: scripts by their hash, a deadline for every call, and what went wrong in
 * words of ours.
 *
 * A call is sent only on a connection that stands. So when there is none, the caller hears at the next
 * failed try to connect that nothing has happened, instead of waiting in a driver's queue and being
 * done long after it gave up.
 *
 * Where the data are on one server, a script may touch several queues, and one call is one step. In a
 * cluster each queue is a slot of its own, and verbs over several queues are a call for each.
 */
import { StoreUnavailableError } from "../../core/errors.ts";
import type { Arg, ClientLike, Reply } from "./client-like.ts";
import { connected, late } from "./connected.ts";
import { connectionsOf } from "./connection.ts";
import type { Keys } from "./keys.ts";
import { codeOf, storeError } from "./redis-error.ts";
import { script, type ScriptName } from "./script.ts";
import { Watchdog } from "./watchdog.ts";
import { withDeadline } from "../shared/with-deadline.ts";

export interface WaitOptions {
  /** How many replicas must have a change before it is acknowledged. */
  readonly replicas: number;
  readonly timeoutMs: number;
}

export interface ServerOptions {
  readonly client: ClientLike;
  readonly keys: Keys;
  readonly deadlineMs: number;
  readonly wait: WaitOptions | null;
  /** A test's clock in milliseconds. */
  readonly now: (() => number) | null;
  /** The server has become a replica of another one. */
  readonly onReplica?: () => void;
}

const LOOKED_AT = 500;
const CALLS_AT_ONCE = 100;

function chunksOf<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

export class Server {
  readonly keys: Keys;
  readonly isCluster: boolean;
  readonly #options: ServerOptions;
  readonly #watchdog: Watchdog;
  /** Calls on their way, the oldest first, and when they began. */
  readonly #inFlight = new Map<Promise<unknown>, number>();
  #connecting: Promise<void> | null = null;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.keys = options.keys;
    this.isCluster = options.client.isCluster === true;
    this.#watchdog = new Watchdog({
      client: options.client,
      blockedMs: options.wait?.timeoutMs ?? 0,
      waitingMs: () => this.#waitingMs(),
    });
  }

  /** What one script can reach: all of these queues, or each for itself. */
  slots(queues: readonly string[]): (readonly string[])[] {
    if (queues.length === 0) return [];
    return this.isCluster ? queues.map((queue) => [queue]) : [queues];
  }

  /**
   * The same for looking at any number of queues: what one script looks at keeps the server for a few
   * milliseconds, and so many scripts go out at once.
   */
  inTurns(queues: readonly string[]): (readonly (readonly string[])[])[] {
    const slots = this.isCluster ? this.slots(queues) : chunksOf(queues, LOOKED_AT);
    return chunksOf(slots, this.isCluster ? CALLS_AT_ONCE : 1);
  }

  /** Runs a script on queues of one slot. */
  async onQueues(
    name: ScriptName,
    queues: readonly string[],
    args: readonly Arg[],
    onSent?: () => void,
  ): Promise<Reply> {
    const bases = queues.map((queue) => this.keys.base(queue));
    const root = this.isCluster ? (bases[0] ?? this.keys.home) : this.keys.home;
    return this.#run(name, [`${root}m`, ...bases], args, onSent);
  }

  /** Runs a script on what belongs to no queue, or on what is kept beside one. */
  async onRoot(name: ScriptName, root: string, args: readonly Arg[]): Promise<Reply> {
    return this.#run(name, [`${root}m`, root], args);
  }

  async command(command: string, ...args: Arg[]): Promise<Reply> {
    return this.#tracked(this.#sent(() => this.#call(command, args)));
  }

  /** Resolves when no call is on its way. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight.keys());
  }

  async #run(
    name: ScriptName,
    keys: readonly string[],
    args: readonly Arg[],
    onSent?: () => void,
  ): Promise<Reply> {
    const all = [keys.length, ...keys, this.#clock(), ...args];
    return this.#tracked(this.#runOnce(name, all, onSent));
  }

  /** `onSent`: it is on its way; what is sent from now on arrives behind it. Again, if it is sent again. */
  async #runOnce(name: ScriptName, args: readonly Arg[], onSent?: () => void): Promise<Reply> {
    const { source, sha } = script(name);
    try {
      return await this.#sent(() => this.#call("EVALSHA", [sha, ...args], onSent));
    } catch (error) {
      if (codeOf((error as Error).cause ?? error) !== "NOSCRIPT") throw error;
      return this.#sent(() => this.#call("EVAL", [source, ...args], onSent));
    }
  }

  #clock(): string {
    const { now } = this.#options;
    return now === null ? "" : String(Math.floor(now() * 1_000));
  }

  async #call(command: string, args: readonly Arg[], onSent?: () => void): Promise<Reply> {
    const { client, wait } = this.#options;
    const answer = client.callBuffer(command, ...args);
    onSent?.();
    if (wait === null || !command.startsWith("EVAL")) return (await answer) as Reply;
    // On the same connection, so it speaks of what was written just before.
    const copies = client.callBuffer("WAIT", wait.replicas, wait.timeoutMs);
    const [reply, replicas] = await Promise.all([answer, copies]);
    if (Number(replicas) >= wait.replicas) return reply as Reply;
    throw new StoreUnavailableError(
      `only ${String(replicas)} of ${wait.replicas} replicas have the change yet: call again`,
      { mayHaveHappened: true },
    );
  }

  async #sent(send: () => Promise<Reply>): Promise<Reply> {
    const { deadlineMs } = this.#options;
    const beganAt = performance.now();
    if (this.#options.client.status !== "ready") await this.#connected();
    const left = Math.max(1, deadlineMs - (performance.now() - beganAt));
    try {
      return await withDeadline(send(), left, () => late(deadlineMs, { mayHaveHappened: true }));
    } catch (error) {
      if (codeOf(error) === "READONLY") this.#leaveReplica();
      throw storeError(error);
    }
  }

  /**
   * The address was the primary's, and this connection leads to where that was: after a planned failover the
   * old primary lives on as a replica and cuts no one off. A new connection finds the new primary.
   */
  #leaveReplica(): void {
    if (this.isCluster) return;
    for (const { stream } of connectionsOf(this.#options.client)) stream?.destroy();
    this.#options.onReplica?.();
  }

  /** All who wait for a connection wait for the same one. */
  async #connected(): Promise<void> {
    const { client, deadlineMs } = this.#options;
    this.#connecting ??= connected(client, deadlineMs).finally(() => (this.#connecting = null));
    await this.#connecting;
  }

  #waitingMs(): number | null {
    const [beganAt] = this.#inFlight.values();
    return beganAt === undefined ? null : performance.now() - beganAt;
  }

  async #tracked<T>(call: Promise<T>): Promise<T> {
    this.#inFlight.set(call, performance.now());
    this.#watchdog.watch();
    try {
      return await call;
    } finally {
      this.#inFlight.delete(call);
    }
  }
}
