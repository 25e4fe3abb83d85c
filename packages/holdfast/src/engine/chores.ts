/**
 * Does the upkeep of a process: each chore again and again, with chance in between so that the processes
 * of a fleet do not march in step. Most run while this process has a worker, some also where it only
 * enqueues or serves; those keep no process alive.
 */
import { ClosedError } from "../core/errors.ts";
import type { Chore } from "./extension.ts";
import type { Logger } from "./logger.ts";
import { isRetryable } from "./retrying.ts";
import type { Runtime, Timer } from "./runtime.ts";

export interface ChoresOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly chores: () => readonly Chore[];
}

interface Running {
  timer: Timer | null;
  isBusy: boolean;
  wantedSoon: boolean;
}

export class Chores {
  readonly #options: ChoresOptions;
  readonly #running = new Map<Chore, Running>();
  #isWorking = false;
  #isClosed = false;

  constructor(options: ChoresOptions) {
    this.#options = options;
  }

  /** The store is open: what runs everywhere begins. */
  open(): void {
    this.#begin();
  }

  /** This process has a worker now, or has none any more. */
  working(isWorking: boolean): void {
    this.#isWorking = isWorking;
    this.#begin();
  }

  /** There is something to do for it now. */
  soon(name: string): void {
    for (const [chore, running] of this.#running) {
      if (chore.name !== name) continue;
      if (running.isBusy) running.wantedSoon = true;
      else this.#schedule(chore, running, 0);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#running.values()) timer?.cancel();
    this.#running.clear();
  }

  #begin(): void {
    for (const chore of this.#options.chores()) {
      const running = this.#running.get(chore);
      if (this.#isDue(chore) && !running) {
        const begun = { timer: null, isBusy: false, wantedSoon: false };
        this.#running.set(chore, begun);
        this.#schedule(chore, begun, this.#usualMs(chore));
      } else if (running && !this.#isDue(chore)) {
        running.timer?.cancel();
        this.#running.delete(chore);
      }
    }
  }

  #isDue({ runsIn }: Chore): boolean {
    return !this.#isClosed && (this.#isWorking || runsIn === "everywhere");
  }

  #usualMs({ everyMs }: Chore): number {
    return everyMs * (0.75 + this.#options.runtime.random() / 4);
  }

  #schedule(chore: Chore, running: Running, ms: number): void {
    running.timer?.cancel();
    const options = { background: !this.#isWorking };
    running.timer = this.#options.runtime.timer(ms, () => void this.#run(chore, running), options);
  }

  async #run(chore: Chore, running: Running): Promise<void> {
    const isStopped = () => this.#running.get(chore) !== running;
    running.timer = null;
    running.isBusy = true;
    running.wantedSoon = false;
    let wantedMs: number | void = undefined;
    try {
      wantedMs = await chore.run({ isStopped });
    } catch (error) {
      const { logger } = this.#options;
      // One that is in the middle of its work meets a store that was closed behind it.
      const isOver = this.#isClosed && error instanceof ClosedError;
      if (!isOver && !isRetryable(error)) {
        logger.error(`the chore "${chore.name}" failed`, { error });
      }
    }
    running.isBusy = false;
    if (isStopped()) return;
    this.#schedule(chore, running, running.wantedSoon ? 0 : (wantedMs ?? this.#usualMs(chore)));
  }
}
