/**
 * Asks the store for jobs: one call at a time, when there is room and reason to.
 *
 *   asleep ──wakeup, due time, poll, room──▶ asking ──answered, or not──▶ asleep, or asking again
 *
 * Reasons are a wakeup, the store's own word on when to come back, or the poll, whichever is first.
 * Wakeups may be lost: the poll is the truth. It stretches while nothing is found and wakeups come from
 * other processes too, and one worker of a process polls for all that take the same queues.
 *
 * A reply that got lost may have leased jobs that this worker does not know of. The worker goes on under a new
 * name, with the queues that are not in doubt, until it has said which jobs of the old name it has and the store
 * has taken the others back, uncharged.
 *
 * Where many workers wait for one job, few ask. A wakeup from another process says how many jobs there
 * are and has a lot that all workers see alike: it puts them in an order, and the later in that order a
 * worker stands, the longer it waits, and a second if it hears that jobs finish. Those that stand far back
 * leave it to their polls: of a large fleet somebody polls all the time.
 */
import { StoreUnavailableError } from "../../core/errors.ts";
import { LONGEST_POLL_MS } from "../../core/line.ts";
import type { LeasedJob, LeaseReply, LeaseRef, LeaseRequest, Wakeup } from "../../core/store.ts";
import type { Extensions } from "../extensions.ts";
import { LastAnswer } from "../last-answer.ts";
import type { Logger } from "../logger.ts";
import { isRetryable, retryDelayMs } from "../retrying.ts";
import type { Runtime, Timer } from "../runtime.ts";
import type { WatchedStore } from "../watched-store.ts";
import { byChance } from "./by-chance.ts";
import { Doubts } from "./doubts.ts";
import type { Fleet } from "./fleet.ts";
import type { IdleLooks } from "./idle-looks.ts";
import type { WorkSettings } from "./work-options.ts";

/** Ready work that could not be had (others were quicker): look again soon, but do not spin. */
const CROWDED_MS = 10;
/** A worker that is this late in the order of a lot waits so long; further back twice as long each. */
const FIRST_IN_RESERVE_MS = 30;
/** These no longer than this: those before them may be full, and what finishes may be of other queues. */
const LONGEST_IN_RESERVE_MS = 1_000;
/** So many; those behind them ask no sooner than an idle worker polls. */
const MOST_IN_RESERVE = 6;

/** How much may be asked for. */
export interface Wanted {
  readonly limit: number;
  /** Of lines that a cap concerns. */
  readonly cappedLimit: number;
  readonly bytes: number;
}

/** What one call brought. */
export interface Leased {
  readonly jobs: readonly LeasedJob[];
  readonly worker: string;
  readonly sentAt: number;
}

interface Share {
  readonly queue: string;
  readonly weight: number;
}

export interface LeaseLoopOptions {
  readonly id: string;
  readonly settings: WorkSettings;
  readonly watched: WatchedStore;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly fleet: Fleet;
  readonly idleLooks: IdleLooks;
  readonly extensions: Extensions;
  readonly wanted: () => Wanted;
  /** The buffer holds no more than there is room for. */
  readonly runsLow: () => boolean;
  readonly isBuffered: () => boolean;
  readonly accept: (leased: Leased) => void;
  readonly heldUnder: (worker: string) => LeaseRef[];
}

export class LeaseLoop {
  readonly #options: LeaseLoopOptions;
  /** The last answered request for jobs. */
  readonly lastAnswer: LastAnswer;
  readonly #doubts: Doubts;
  #phase: "working" | "quiet" | "stopped" = "working";
  #asking: Promise<void> | null = null;
  #askAgain = false;
  #failures = 0;
  #emptyPolls = 0;
  #askedForAll = true;
  #askedAt = -Infinity;
  #timer: Timer | null = null;
  #timerAt = Infinity;
  /** Of a wakeup that others answer first. */
  #reserveTimer: Timer | null = null;
  #reserveAt = 0;
  /** Then it asks, whatever else it hears. */
  #reserveUntil = 0;
  /** A wakeup was left to others, or there was no room for it: ask when a slot becomes free. */
  #leftToOthers = false;
  #name: string;
  #generation = 0;
  /** Replies, in whole or in part. */
  #lostInARow = 0;

  constructor(options: LeaseLoopOptions) {
    this.#options = options;
    this.#name = options.id;
    this.lastAnswer = new LastAnswer(options.runtime);
    this.#doubts = new Doubts({ ...options, onFreed: () => this.#soon() });
  }

  /** Resolves when the first call was answered, or failed. */
  start(): Promise<void> {
    return this.#ask();
  }

  /** Nothing is on its way, and the last look found no more work. */
  get isAsleep(): boolean {
    return this.#asking === null && this.#timer !== null && this.#doubts.isEmpty;
  }

  /** Asks for nothing until it is told to go on. */
  quiet(isQuiet: boolean): void {
    if (this.#phase === "stopped" || (this.#phase === "quiet") === isQuiet) return;
    this.#phase = isQuiet ? "quiet" : "working";
    if (isQuiet) this.#sleep();
    else this.#soon();
  }

  get isQuiet(): boolean {
    return this.#phase === "quiet";
  }

  /** Resolves when nothing is on its way and nothing more will be asked. */
  async stop(): Promise<void> {
    this.#phase = "stopped";
    this.#sleep();
    this.#options.idleLooks.forget(this.#options.settings.queues.keys());
    await this.#asking;
    await this.#doubts.close();
  }

  wake(wakeup: Wakeup): void {
    if (wakeup.finished.length > 0) this.#leaveToOthers();
    const queue = wakeup.queues.find((name) => this.#mayAsk(name));
    if (queue === undefined) return;
    const waitMs = this.#waitAfter(wakeup, queue);
    if (waitMs === 0) return this.#soon();
    this.#leftToOthers = true;
    const now = this.#options.runtime.monotonic();
    const until = now + Math.max(waitMs, this.#longestInReserveMs());
    if (this.#reserveTimer === null) this.#reserveUntil = until;
    else if (now + waitMs >= this.#reserveAt) return;
    else this.#reserveUntil = Math.min(this.#reserveUntil, until);
    this.#askFromReserveIn(waitMs);
  }

  #askFromReserveIn(ms: number): void {
    const { runtime } = this.#options;
    this.#reserveTimer?.cancel();
    this.#reserveAt = runtime.monotonic() + ms;
    this.#reserveTimer = runtime.timer(ms, () => {
      this.#reserveTimer = null;
      this.#soon();
    });
  }

  /** A slot became free. */
  slotFreed(): void {
    const mayHaveMore = (!this.#askedForAll || this.#leftToOthers) && this.#failures === 0;
    if (mayHaveMore) this.#cancelTimer();
    this.fill();
  }

  /** Asks for more when the buffer runs low, together with the settles of the same turn. */
  fill(): void {
    if (this.#asking || this.#timer || this.#phase !== "working") return;
    if (!this.#options.runsLow()) return;
    this.#asking = new Promise((resolve) => {
      this.#options.runtime.defer(() => {
        this.#asking = null;
        resolve();
        void this.#ask();
      });
    });
  }

  /** It takes it, and knows what it has of it. */
  #mayAsk(queue: string): boolean {
    return this.#options.settings.queues.has(queue) && !this.#doubts.has(queue);
  }

  #soon(): void {
    if (this.#asking) this.#askAgain = true;
    else void this.#ask();
  }

  /** Never two calls at once; a wish that comes meanwhile is remembered. */
  async #ask(): Promise<void> {
    if (this.#asking || this.#phase === "stopped") return;
    const wanted = this.#options.wanted();
    const mayAsk = this.#phase === "working" && wanted.limit > 0;
    const shares = mayAsk ? this.#shares() : [];
    this.#leftToOthers = shares.length === 0;
    if (this.#leftToOthers) return;
    this.#sleep();
    this.#askAgain = false;
    this.#askedForAll = wanted.cappedLimit > 0;
    this.#asking = this.#askOnce(wanted, shares);
    await this.#asking;
  }

  /** Nothing of the queues in doubt. */
  #shares(): Share[] {
    const { queues } = this.#options.settings;
    const all = [...queues].map(([queue, weight]) => ({ queue, weight }));
    return this.#doubts.isEmpty ? all : all.filter(({ queue }) => !this.#doubts.has(queue));
  }

  async #askOnce(wanted: Wanted, shares: readonly Share[]): Promise<void> {
    const { runtime, logger } = this.#options;
    let waitMs: number;
    this.#askedAt = runtime.monotonic();
    try {
      const reply = await this.#lease(wanted, shares);
      this.#failures = 0;
      if (this.#doubts.isEmpty) this.#lostInARow = 0;
      this.#asking = null;
      this.lastAnswer.answered();
      waitMs = this.#waitMs(reply);
    } catch (error) {
      this.#asking = null;
      this.#failures += 1;
      waitMs = retryDelayMs(this.#failures, runtime.random());
      if (!isRetryable(error)) logger.error("leasing failed; trying again", { error });
    }
    if (this.#phase !== "working") return;
    if (this.#askAgain && this.#failures === 0) waitMs = 0;
    if (waitMs > 0) this.#askIn(waitMs);
    // At once, and not when what waits has run: while it does, the store finds the next ones.
    else if (this.#options.isBuffered() && this.#options.runsLow()) void this.#ask();
    else this.fill();
  }

  async #lease({ limit, cappedLimit, bytes }: Wanted, of: readonly Share[]): Promise<LeaseReply> {
    const { watched, runtime, settings, extensions, logger, accept } = this.#options;
    const shares = of.map((share) => ({ ...share, limit }));
    const admitted = extensions.hasAdmission ? await extensions.admit(shares) : null;
    const admissible = admitted?.queues ?? shares;
    if (admissible.length === 0) return { jobs: [], nextInMs: admitted?.nextInMs ?? null };
    const queues = admissible.length > 1 ? byChance(admissible, runtime) : admissible;
    const worker = this.#name;
    const request: LeaseRequest = {
      ...{ worker, leaseMs: settings.leaseMs, limit, cappedLimit, maxBytes: bytes, queues },
    };
    const sentAt = runtime.monotonic();
    try {
      const reply = await watched.store.lease(request);
      const { unsure = [] } = reply;
      if (unsure.length > 0) this.#rename(unsure);
      admitted?.leased(reply.jobs, unsure);
      const count = reply.jobs.length;
      if (count > 0) logger.debug("leased", { event: "lease", worker, count });
      accept({ jobs: reply.jobs, worker, sentAt });
      // Of a part of its queues nobody else wants to know.
      if (!admitted && shares.length === settings.queues.size) this.#tell(reply);
      return admitted ? { ...reply, nextInMs: soonest(reply.nextInMs, admitted.nextInMs) } : reply;
    } catch (error) {
      const isUnsure = !(error instanceof StoreUnavailableError) || error.mayHaveHappened;
      const names = queues.map(({ queue }) => queue);
      if (isUnsure) this.#rename(names);
      admitted?.leased([], isUnsure ? names : []);
      throw error;
    }
  }

  /** What was leased under the old name and is not known here is disowned. */
  #rename(queues: readonly string[]): void {
    this.#lostInARow += 1;
    this.#doubts.add(this.#name, queues, this.#lostInARow);
    this.#generation += 1;
    this.#name = `${this.#options.id}.${this.#generation}`;
  }

  #waitMs({ jobs, nextInMs }: LeaseReply): number {
    this.#emptyPolls = jobs.length > 0 ? 0 : this.#emptyPolls + 1;
    if (nextInMs === 0) return jobs.length > 0 ? 0 : CROWDED_MS;
    const pollInMs = this.#pollInMs();
    return Math.min(nextInMs ?? pollInMs, pollInMs);
  }

  /** With chance in it, or the workers of a fleet would poll in step. */
  #pollInMs(): number {
    const { settings, runtime, watched } = this.#options;
    const { pollMs } = settings;
    const stretches = watched.store.info().wakeups === "processes";
    const longestMs = stretches ? Math.max(pollMs, LONGEST_POLL_MS) : pollMs;
    const stretchedMs = pollMs * 2 ** Math.min(10, Math.max(0, this.#emptyPolls - 1));
    return Math.min(stretchedMs, longestMs) * (0.75 + runtime.random() / 4);
  }

  /** What a call finds that may take whatever there is of these, others would find too. */
  #tell({ jobs, nextInMs, unsure = [] }: LeaseReply): void {
    const { idleLooks, runtime, settings } = this.#options;
    if (!this.#askedForAll || unsure.length > 0 || jobs.length > 0 || nextInMs === 0) return;
    const nextAt = nextInMs === null ? Infinity : runtime.monotonic() + nextInMs;
    idleLooks.foundNothing(settings.queues.keys(), { at: this.#askedAt, nextAt });
  }

  /** How long it may still rest because another one has looked since this one did. */
  #restMs(): number {
    // Nobody else can say what became of its own last call.
    if (this.#failures > 0 || !this.#doubts.isEmpty) return 0;
    const { idleLooks, settings, runtime } = this.#options;
    const look = idleLooks.since(this.#askedAt, settings.queues.keys());
    if (look === null) return 0;
    this.lastAnswer.answered(look.at);
    return Math.min(look.at + this.#pollInMs(), look.nextAt) - runtime.monotonic();
  }

  /** How long this worker leaves a wakeup to others. */
  #waitAfter({ added, lot }: Wakeup, queue: string): number {
    if (added === undefined || lot === undefined) return 0;
    const { fleet, id } = this.#options;
    // One more than there are jobs: the first may be full, or dead.
    const inReserve = fleet.rankOf(id, queue, lot) - added - 1;
    if (inReserve < 0) return 0;
    if (inReserve >= MOST_IN_RESERVE)
      return LONGEST_POLL_MS * (0.75 + this.#options.runtime.random() / 4);
    return Math.min(FIRST_IN_RESERVE_MS * 2 ** inReserve, this.#longestInReserveMs());
  }

  /** With chance in it, or they would all ask at once. */
  #longestInReserveMs(): number {
    return LONGEST_IN_RESERVE_MS * (0.5 + this.#options.runtime.random() / 2);
  }

  /** Jobs finish elsewhere: most likely the workers that asked first have got what this one is in reserve for. */
  #leaveToOthers(): void {
    if (this.#reserveTimer === null) return;
    this.#askFromReserveIn(Math.max(0, this.#reserveUntil - this.#options.runtime.monotonic()));
  }

  #askIn(ms: number): void {
    const { runtime } = this.#options;
    const at = runtime.monotonic() + ms;
    if (at >= this.#timerAt) return;
    this.#cancelTimer();
    this.#timerAt = at;
    this.#timer = runtime.timer(ms, () => {
      // Over, whether it can ask now or not: a timer that is kept would keep a free slot from asking.
      this.#cancelTimer();
      const restMs = this.#restMs();
      if (restMs > 0) this.#askIn(restMs);
      else void this.#ask();
    });
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#timerAt = Infinity;
  }

  #sleep(): void {
    this.#cancelTimer();
    this.#reserveTimer?.cancel();
    this.#reserveTimer = null;
  }
}

function soonest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
