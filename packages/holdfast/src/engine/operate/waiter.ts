/**
 * Waits for jobs to finish: hints make it quick, looking makes it sure. A hint or a new waiter asks for the
 * jobs it is about; only the look that comes by itself asks for all.
 */
import { InvalidOptionError, WaitTimeoutError } from "../../core/errors.ts";
import { jobNotFound } from "../../core/job-not-found.ts";
import { BATCH_ITEMS } from "../../core/job.ts";
import { checkOptions, checkWhole, MAX_DURATION_MS } from "../../core/option-checks.ts";
import type { JobRef, Store } from "../../core/store.ts";
import { show } from "../../core/text.ts";
import { Batchers } from "../produce/batchers.ts";
import { finishedJob, type FinishedJob } from "./job-view.ts";
import { longTimer, type Runtime, type Timer } from "../runtime.ts";
import { isRetryable } from "../retrying.ts";

/** Without a hint the ids are looked at this often; more of them, less often. */
const LOOK_EVERY_MS = 250;

interface Waiting {
  readonly ref: JobRef;
  readonly done: (finished: FinishedJob) => void;
  readonly failed: (error: unknown) => void;
}

type Found = Awaited<ReturnType<Store["get"]>>[number];

export interface WaiterOptions {
  readonly store: Store;
  readonly hasSeveralServers: () => boolean;
  readonly runtime: Runtime;
  /** A job the store does not know yet, and will. */
  readonly isComing: (id: string) => boolean;
}

/** What a caller gives to `waitFor`: a receipt or an id, and how long it may take. */
export function checkWait(
  target: { readonly id: string; readonly queue?: string } | string,
  options: { readonly timeoutMs?: number },
): { readonly ref: JobRef; readonly timeoutMs: number | null } {
  checkOptions("waitFor", options, ["timeoutMs"]);
  const { timeoutMs } = options;
  if (timeoutMs !== undefined) {
    checkWhole("timeoutMs", timeoutMs, { min: 1, max: MAX_DURATION_MS });
  }
  const { id, queue }: Partial<JobRef> =
    typeof target === "string" ? { id: target } : { ...target };
  if ((target as unknown) instanceof Promise) {
    throw new InvalidOptionError(
      "waitFor takes a receipt, not the promise of one: waitFor(await hf.enqueue(…))",
    );
  }
  if (typeof id !== "string" || id === "") {
    throw new InvalidOptionError(
      `waitFor takes the receipt of an enqueue, or the id of a job, not ${show(target)}`,
    );
  }
  return { ref: { id, ...(queue !== undefined && { queue }) }, timeoutMs: timeoutMs ?? null };
}

export class Waiter {
  readonly #store: Store;
  readonly #looks: Batchers<JobRef, Found>;
  readonly #runtime: Runtime;
  readonly #isComing: (id: string) => boolean;
  readonly #waiting = new Map<string, Set<Waiting>>();
  #stopListening: (() => void) | null = null;
  #timer: Timer | null = null;
  /** By id, while it is asked for: is it to be asked for again? */
  readonly #asked = new Map<string, boolean>();

  constructor(options: WaiterOptions) {
    this.#store = options.store;
    this.#runtime = options.runtime;
    this.#isComing = options.isComing;
    this.#looks = new Batchers({
      hasSeveralServers: options.hasSeveralServers,
      queueOf: ({ queue = "" }) => queue,
      run: (refs) => options.store.get(refs),
      // After what else is asked for in this turn.
      defer: (callback) => queueMicrotask(callback),
      ...{ maxItems: BATCH_ITEMS, maxBytes: Infinity, bytesOf: () => 0, isolate: () => false },
    });
  }

  waitFor(ref: JobRef, options: { readonly timeoutMs: number | null }): Promise<FinishedJob> {
    return new Promise((resolve, reject) => {
      const { timeoutMs } = options;
      const timeout =
        timeoutMs === null
          ? null
          : longTimer(this.#runtime, timeoutMs, () => {
              stop();
              reject(new WaitTimeoutError(`job ${ref.id} has not finished in ${timeoutMs} ms`));
            });
      const waiting: Waiting = {
        ref,
        done: (finished) => {
          stop();
          resolve(finished);
        },
        failed: (error) => {
          stop();
          reject(error);
        },
      };
      const stop = () => {
        timeout?.cancel();
        this.#remove(waiting);
      };
      this.#add(waiting);
    });
  }

  close(error: unknown): void {
    for (const group of this.#waiting.values()) {
      for (const waiting of group) waiting.failed(error);
    }
  }

  #add(waiting: Waiting): void {
    const group = this.#waiting.get(waiting.ref.id);
    if (group) group.add(waiting);
    else this.#waiting.set(waiting.ref.id, new Set([waiting]));
    this.#stopListening ??= this.#store.onWakeup(({ finished }) => this.#lookAt(finished));
    this.#lookAt([waiting.ref.id]);
    this.#lookLater();
  }

  #remove(waiting: Waiting): void {
    const group = this.#waiting.get(waiting.ref.id);
    group?.delete(waiting);
    if (group?.size === 0) this.#waiting.delete(waiting.ref.id);
    if (this.#waiting.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = null;
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** It may have changed since it was asked for. */
  #lookAt(ids: Iterable<string>): void {
    for (const id of ids) {
      if (this.#asked.has(id)) this.#asked.set(id, true);
      else this.#ask(id);
    }
  }

  #lookLater(): void {
    const everyMs = LOOK_EVERY_MS * Math.ceil(this.#waiting.size / BATCH_ITEMS);
    this.#timer ??= this.#runtime.timer(everyMs, () => {
      this.#timer = null;
      for (const id of this.#waiting.keys()) if (!this.#asked.has(id)) this.#ask(id);
      this.#lookLater();
    });
  }

  #ask(id: string): void {
    const [first] = this.#waiting.get(id) ?? [];
    if (!first) return;
    this.#asked.set(id, false);
    this.#looks.push(first.ref, (error, found) => {
      const isChanged = this.#asked.get(id);
      this.#asked.delete(id);
      if (error === null) this.#tell(id, found ?? null);
      // A store that is away for a while does not end the wait; the timeout does.
      else if (!isRetryable(error)) this.#fail(id, error);
      if (isChanged) this.#ask(id);
    });
  }

  #tell(id: string, found: Found): void {
    if (found === null) {
      if (this.#isComing(id)) return;
      this.#fail(id, jobNotFound(id));
      return;
    }
    const finished: FinishedJob | null =
      found === "pruned" ? { status: "pruned", id } : finishedJob(found);
    if (!finished) return;
    for (const waiting of this.#waiting.get(id) ?? []) waiting.done(finished);
  }

  #fail(id: string, error: unknown): void {
    for (const waiting of this.#waiting.get(id) ?? []) waiting.failed(error);
  }
}
