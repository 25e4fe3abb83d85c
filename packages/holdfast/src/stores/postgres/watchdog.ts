/**
 * Watches calls that take long. A connection may be dead without anybody having said so: a firewall
 * forgot it, a failover swallowed it, a reply got lost. Then the call would wait for its whole
 * deadline, though the server has long been well again.
 *
 * So after a while another connection is opened, and the server is asked what became of the backend
 * behind the silent one. If it is gone, or is not working on anything, its answer was lost. If it is
 * working, the call waits on.
 *
 * One look at a time asks for all that are slow: a server on which everything is slow must not get a
 * second connection for each call. Behind a pooler a connection names another backend than it has, also
 * in session mode, and then nothing can be asked.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { askWithin, canConnect, connectBeside, type OwnClient } from "./own-client.ts";
import type { ClientLike, PoolLike } from "./pool-like.ts";

const LOOK_EVERY_MS = 1_500;
const ANSWER_WITHIN_MS = 1_000;
const IDLE_MS = 500;
const NONE: ReadonlySet<number> = new Set();

export interface Watch {
  /** Resolves when the connection is known to be dead. */
  readonly isDead: Promise<void>;
  stop(): void;
}

export class Watchdog {
  readonly #pool: PoolLike;
  readonly #canLook: boolean;
  /** Those that the next look will ask for. */
  readonly #asked = new Set<number>();
  #looking: Promise<unknown> = Promise.resolve();
  #nextLook: Promise<ReadonlySet<number>> | null = null;

  constructor(pool: PoolLike, { canLook }: { readonly canLook: boolean }) {
    this.#pool = pool;
    this.#canLook = canLook && canConnect(pool);
  }

  watch(client: ClientLike): Watch {
    const pid = backendOf(client);
    let declareDead = (): void => {};
    const isDead = new Promise<void>((resolve) => (declareDead = resolve));
    if (!this.#canLook || pid === null) return { isDead, stop: () => {} };
    let isOver = false;
    let timer = setTimeout(look, LOOK_EVERY_MS);
    const hasEnded = async (): Promise<boolean> => (await this.#endedWith(pid)).has(pid);
    async function lookOnce(): Promise<void> {
      const ended = await hasEnded().catch(() => false);
      if (isOver) return;
      if (ended) declareDead();
      else timer = setTimeout(look, LOOK_EVERY_MS);
    }
    function look(): void {
      void lookOnce();
    }
    return {
      isDead,
      stop() {
        isOver = true;
        clearTimeout(timer);
      },
    };
  }

  /**
   * Stops what a backend does for a call that was given up: else it may still commit, minutes later. If
   * the server cannot be reached, it is as it was before: the call may have happened.
   */
  async cancel(client: ClientLike): Promise<void> {
    const pid = backendOf(client);
    if (!this.#canLook || pid === null) return;
    await this.#beside((beside) =>
      askWithin(beside, `SELECT pg_cancel_backend(${pid})`, ANSWER_WITHIN_MS),
    );
  }

  #endedWith(pid: number): Promise<ReadonlySet<number>> {
    this.#asked.add(pid);
    this.#nextLook ??= this.#lookAfter(this.#looking);
    return this.#nextLook;
  }

  async #lookAfter(lookBefore: Promise<unknown>): Promise<ReadonlySet<number>> {
    await lookBefore.catch(() => {});
    const pids = [...this.#asked];
    this.#asked.clear();
    this.#nextLook = null;
    const look = this.#beside((beside) => endedAmong(beside, pids));
    this.#looking = look;
    return (await look) ?? NONE;
  }

  /** Null: there is a pooler in between. */
  async #beside<T>(ask: (beside: OwnClient) => Promise<T>): Promise<T | null> {
    const beside = await connectBeside(this.#pool, ANSWER_WITHIN_MS);
    try {
      const [own] = await askWithin(beside, "SELECT pg_backend_pid()", ANSWER_WITHIN_MS);
      return Number(own?.[0]) === backendOf(beside) ? await ask(beside) : null;
    } finally {
      beside.destroy();
    }
  }
}

/** The backends that are gone, or have been waiting for us all the time while we wait for them. */
async function endedAmong(beside: OwnClient, pids: readonly number[]): Promise<Set<number>> {
  const idleSince = await idleAmong(beside, pids);
  const ended = new Set(pids.filter((pid) => !idleSince.has(pid)));
  if (![...idleSince.values()].some((since) => since !== null)) return ended;
  // Between two statements of a transaction it is idle too, but not for long.
  await sleep(IDLE_MS);
  for (const [pid, since] of await idleAmong(beside, pids)) {
    if (since !== null && since === idleSince.get(pid)) ended.add(pid);
  }
  return ended;
}

/** By the backends that are there: since when they have nothing to do. Null: they are at work. */
async function idleAmong(
  beside: OwnClient,
  pids: readonly number[],
): Promise<ReadonlyMap<number, unknown>> {
  const sql = `SELECT pid, CASE WHEN state IN ('idle', 'idle in transaction') THEN state_change END
    FROM pg_stat_activity WHERE pid IN (${pids.join(", ")})`;
  const rows = await askWithin(beside, sql, ANSWER_WITHIN_MS);
  return new Map(rows.map(([pid, since]) => [Number(pid), since]));
}

function backendOf(client: object): number | null {
  const { processID: pid } = client as { readonly processID?: unknown };
  return typeof pid === "number" ? pid : null;
}
