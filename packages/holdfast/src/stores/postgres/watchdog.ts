/**
 * Watches calls that take long. A connection may be dead without anybody having said so: a firewall
 * forgot it, a failover swallowed it, a reply got lost. Then the call would wait for its whole
 * deadline, though the server has long been well again.
 *
 * So after a while another connection is opened, and the server is asked what became of the backend
 * behind the silent one. If it is gone, or is not working on anything, its answer was lost. If it is
 * working, the call waits on.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { askWithin, canConnect, connectBeside } from "./own-client.ts";
import type { ClientLike, PoolLike } from "./pool-like.ts";

const LOOK_EVERY_MS = 1_500;
const ANSWER_WITHIN_MS = 1_000;
const IDLE_MS = 500;
const GONE = Symbol("gone");

export interface Watch {
  /** Resolves when the connection is known to be dead. */
  readonly isDead: Promise<void>;
  stop(): void;
}

export class Watchdog {
  readonly #pool: PoolLike;
  readonly #canLook: boolean;

  constructor(pool: PoolLike, { canLook }: { readonly canLook: boolean }) {
    this.#pool = pool;
    this.#canLook = canLook && canConnect(pool);
  }

  watch(client: ClientLike): Watch {
    const { processID: pid } = client as { readonly processID?: unknown };
    let declareDead = (): void => {};
    const isDead = new Promise<void>((resolve) => (declareDead = resolve));
    if (!this.#canLook || typeof pid !== "number") return { isDead, stop: () => {} };
    let isOver = false;
    let timer = setTimeout(look, LOOK_EVERY_MS);
    const hasEnded = (): Promise<boolean> => this.#hasEnded(pid);
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
    const { processID: pid } = client as { readonly processID?: unknown };
    if (!this.#canLook || typeof pid !== "number") return;
    const beside = await connectBeside(this.#pool, ANSWER_WITHIN_MS);
    try {
      await askWithin(beside, `SELECT pg_cancel_backend(${pid})`, ANSWER_WITHIN_MS);
    } finally {
      beside.destroy();
    }
  }

  /** Is the backend gone, or has it been waiting for us all the time while we wait for it? */
  async #hasEnded(pid: number): Promise<boolean> {
    const client = await connectBeside(this.#pool, ANSWER_WITHIN_MS);
    const look = async (): Promise<unknown> => {
      const sql = `SELECT state_change FROM pg_stat_activity WHERE pid = ${pid}`;
      const [gone] = await askWithin(client, sql, ANSWER_WITHIN_MS);
      if (gone === undefined) return GONE;
      const idle = `${sql} AND state IN ('idle', 'idle in transaction')`;
      const [row] = await askWithin(client, idle, ANSWER_WITHIN_MS);
      return row?.[0] ?? null;
    };
    try {
      const first = await look();
      if (first === GONE || first === null) return first === GONE;
      // Between two statements of a transaction it is idle too, but not for long.
      await sleep(IDLE_MS);
      return (await look()) === first;
    } finally {
      client.destroy();
    }
  }
}
