/**
 * A job whose worker is at hand. Where this process enqueues one for a queue that had nothing left to give when
 * it last asked, an idle worker of the same process asks for it at once. Then both questions go to the server as
 * one script (lua/hand-over.lua), which does half of what two would do: the job goes straight to its worker.
 *
 *   insert ──▶ offered ──nobody asks in this turn──▶ insert
 *                 └──a lease of its queue──▶ hand-over ──▶ both are answered
 *                                                └──something is in the way──▶ insert, lease behind it
 *
 * An offer lasts until all has run that was due in this turn of the event loop: what a worker does between hearing
 * of the job and asking for it waits for nothing. So it delays neither call by more than that.
 */
import { StoreUnavailableError } from "../../core/errors.ts";
import type { Arg, Reply } from "./client-like.ts";
import { list, numberOrNull } from "./reply.ts";
import type { Server } from "./server.ts";

/**
 * What was in the way of one job is mostly in the way of the next: a hold, a cap, a bound. So after an offer that
 * failed the next job is not offered, and after each more that fails twice as many, up to this many.
 */
const MOST_PASSED = 256;

interface Offer {
  asked: { readonly args: readonly Arg[]; readonly answer: PromiseWithResolvers<Reply> } | null;
}

/** What `insert` answers about one job that was added to a queue that is known, and needs nobody else. */
const ADDED: Reply = [[], [], []];

export class Handovers {
  readonly #server: Server;
  /** Queues that had nothing left to give when this process last asked. */
  readonly #drained = new Set<string>();
  readonly #offers = new Map<string, Offer>();
  /** Queues whose last offer failed: how many jobs are not offered then, and how many of these are to come. */
  readonly #rests = new Map<string, { readonly jobs: number; left: number }>();

  constructor(server: Server) {
    this.#server = server;
  }

  /** The script `lease` of one queue. */
  async lease(queue: string, args: readonly Arg[]): Promise<Reply> {
    const offer = this.#offers.get(queue);
    if (offer === undefined || offer.asked !== null) return this.#lease(queue, args);
    const answer = Promise.withResolvers<Reply>();
    offer.asked = { args, answer };
    return answer.promise;
  }

  /**
   * The script `insert` of one job without a key that is due at once. `announce` tells those who listen in this
   * process: what they ask from then on arrives behind the job, or with it.
   */
  async insert(queue: string, args: readonly Arg[], announce: () => void): Promise<Reply> {
    if (!this.#mayOffer(queue)) return this.#server.onQueues("insert", [queue], args, announce);
    const offer: Offer = { asked: null };
    this.#offers.set(queue, offer);
    announce();
    await endOfTurn();
    this.#offers.delete(queue);
    // Who listens was told in this turn, and is told again only if the job must be sent again.
    let isTold = true;
    const send = (): Promise<Reply> =>
      this.#server.onQueues("insert", [queue], args, () => {
        if (!isTold) announce();
        isTold = false;
      });
    if (offer.asked === null) return send();
    const { args: asked, answer } = offer.asked;
    const leaseBehind = (): void => answer.resolve(this.#lease(queue, asked));
    try {
      const reply = await this.#server.onQueues("hand-over", [queue], [...asked, ...args]);
      if (reply !== null) {
        this.#rests.delete(queue);
        answer.resolve(reply);
        return ADDED;
      }
    } catch (error) {
      // The store may be away, or have done it: both hear that. Else it was refused, as a full memory refuses what is new.
      if (error instanceof StoreUnavailableError) answer.reject(error);
      else leaseBehind();
      throw error;
    }
    this.#drained.delete(queue);
    this.#rest(queue);
    const inserting = send();
    leaseBehind();
    return inserting;
  }

  #mayOffer(queue: string): boolean {
    if (!this.#drained.has(queue) || this.#offers.has(queue)) return false;
    const rest = this.#rests.get(queue);
    if (rest === undefined || rest.left === 0) return true;
    rest.left -= 1;
    return false;
  }

  #rest(queue: string): void {
    const jobs = Math.min(MOST_PASSED, 2 * (this.#rests.get(queue)?.jobs ?? 0.5));
    this.#rests.set(queue, { jobs, left: jobs });
  }

  async #lease(queue: string, args: readonly Arg[]): Promise<Reply> {
    const reply = await this.#server.onQueues("lease", [queue], args);
    if (numberOrNull(list(reply)[0]) === 0) this.#drained.delete(queue);
    else this.#drained.add(queue);
    return reply;
  }
}

/** Ticks come after all promises that are settled by then, and all that follow from them. */
async function endOfTurn(): Promise<void> {
  await new Promise<void>((resolve) => process.nextTick(resolve));
}
