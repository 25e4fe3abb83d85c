/** Asks the extensions, in their order, within their time, and survives what they do. */
import type { JobContract } from "../core/contract.ts";
import type { HoldfastError } from "../core/errors.ts";
import type { NewJob } from "../core/job.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import type { Outcome } from "../core/outcome.ts";
import type { InsertResult, LeasedJob } from "../core/store.ts";
import type { Admission, AttemptView, Chore, Decision, Ended, Extension } from "./extension.ts";
import type { Timings } from "./extension.ts";
import type { Logger } from "./logger.ts";
import type { Runtime } from "./runtime.ts";

const HOOK_MS = 2_000;
const ADMIT_MS = 250;
const CLOSING_MS = 1_000;
const NO_ENTRIES: readonly LedgerEntry[] = Object.freeze([]);

/** The hooks that concern one type. */
export interface Hooks {
  readonly before: readonly Extension[];
  readonly around: readonly Extension[];
  /** In the reverse order. */
  readonly decided: readonly Extension[];
  readonly ended: readonly Extension[];
}

/** What may be asked of the store, and whom to tell what came of it. */
export interface Admitted {
  readonly queues: readonly { queue: string; limit: number; weight: number }[];
  readonly nextInMs: number | null;
  leased(jobs: readonly LeasedJob[], unsure: readonly string[]): void;
}

export class Extensions {
  readonly #runtime: Runtime;
  readonly #logger: Logger;
  readonly #all: Extension[] = [];
  readonly #hooks = new Map<JobContract | null, Hooks>();
  /** Each enqueue asks these, and mostly there are none. */
  #placing: readonly Extension[] = [];
  #refusing: readonly Extension[] = [];
  #toldOfEnqueues: readonly Extension[] = [];
  /** By extension and hook: how often one threw or took too long. */
  readonly failures = new Map<string, number>();

  constructor(options: { readonly runtime: Runtime; readonly logger: Logger }) {
    this.#runtime = options.runtime;
    this.#logger = options.logger;
  }

  /** Returns the way to take it out again. */
  add(extension: Extension): () => void {
    this.#all.push(extension);
    this.#changedAll();
    return () => {
      const at = this.#all.indexOf(extension);
      if (at !== -1) this.#all.splice(at, 1);
      this.#changedAll();
    };
  }

  #changedAll(): void {
    this.#placing = this.#all.filter(({ place }) => place !== undefined);
    this.#refusing = this.#all.filter(({ refuses }) => refuses !== undefined);
    this.#toldOfEnqueues = this.#all.filter(({ enqueued }) => enqueued !== undefined);
    this.#hooks.clear();
  }

  /** What concerns which type is asked again. */
  changed(): void {
    this.#hooks.clear();
  }

  get chores(): readonly Chore[] {
    return this.#all.flatMap(({ chores = [] }) => chores);
  }

  /** Of a type that this process does not know: those that ask for no type in particular. */
  of(contract: JobContract | null): Hooks {
    let hooks = this.#hooks.get(contract);
    if (!hooks) this.#hooks.set(contract, (hooks = this.#hooksOf(contract)));
    return hooks;
  }

  get hasAdmission(): boolean {
    return this.#all.some(({ admit }) => admit !== undefined);
  }

  /** What answers at once costs no wait, so that a worker of thousands of queues pays for few of them. */
  async admit(shares: Admitted["queues"]): Promise<Admitted> {
    let nextInMs: number | null = null;
    const asked = this.#all.flatMap((extension) => {
      const { admit } = extension;
      return admit ? [{ extension, admit: admit.bind(extension) }] : [];
    });
    const granted: { extension: Extension; queue: string; jobs: number }[] = [];
    const grant = (extension: Extension, queue: string, admission: Admission, left: number) => {
      granted.push({ extension, queue, jobs: admission.jobs });
      if (admission.nextInMs !== null) {
        nextInMs = Math.min(nextInMs ?? Infinity, admission.nextInMs);
      }
      return Math.min(left, admission.jobs);
    };
    const limits = shares.map(({ queue, limit }): number | Promise<number> => {
      let left: number | Promise<number> = limit;
      for (const { extension, admit } of asked) {
        const ask = (wanted: number) =>
          this.#askSoon(extension, "admit", () => admit(queue, wanted), ADMIT_MS);
        left = after(left, (wanted) =>
          after(ask(wanted), (admission) =>
            admission ? grant(extension, queue, admission, wanted) : wanted,
          ),
        );
      }
      return left;
    });
    const queues: { queue: string; limit: number; weight: number }[] = [];
    for (const [at, left] of limits.entries()) {
      const limit = typeof left === "number" ? left : await left;
      if (limit > 0) queues.push({ ...shares[at]!, limit });
    }
    return {
      queues,
      nextInMs,
      leased: (jobs, unsure) => {
        for (const { extension, queue, jobs: count } of granted) {
          const taken = unsure.includes(queue)
            ? "unsure"
            : jobs.filter((job) => job.queue === queue).length;
          this.#tell(extension, "leased", () => extension.leased?.(queue, count, taken));
        }
      },
    };
  }

  /** The first outcome ends the attempt; those behind it are not asked. */
  async before(hooks: Hooks, attempt: AttemptView): Promise<Outcome | undefined> {
    for (const extension of hooks.before) {
      const outcome = await this.#ask(extension, "before", () => extension.before!(attempt));
      if (outcome) return outcome;
    }
    return undefined;
  }

  /** The handler with everything around it; the first extension is the outermost. */
  around(hooks: Hooks, attempt: AttemptView, handler: () => Promise<unknown>) {
    return hooks.around.reduceRight(
      (next, extension) => () => extension.around!(attempt, next),
      handler,
    );
  }

  /** A promise only if an extension needs time. Every job comes by here, so it makes nothing that it can do without. */
  decided(hooks: Hooks, attempt: AttemptView, outcome: Outcome): Decided | Promise<Decided> {
    let decided: Decided = { outcome, entries: NO_ENTRIES };
    for (let at = 0; at < hooks.decided.length; at += 1) {
      const answer = this.#decision(hooks.decided[at]!, attempt, decided.outcome);
      if (answer instanceof Promise) return this.#decidedLater(hooks, attempt, decided, at, answer);
      if (answer) decided = withDecision(decided, answer);
    }
    return decided;
  }

  ended(
    hooks: Hooks,
    attempt: AttemptView,
    told: { readonly how: Ended; readonly outcome: Outcome | null; readonly timings: Timings },
  ): void {
    const { how, outcome, timings } = told;
    for (const extension of hooks.ended) {
      try {
        extension.ended!(attempt, how, outcome, timings);
      } catch (error) {
        this.#failed(extension, "ended", error);
      }
    }
  }

  /** Of those that must know something first; one after the other. */
  async opened(): Promise<void> {
    for (const extension of this.#all) await extension.opened?.();
  }

  /** Puts a job where it belongs, before anything is stored of it. */
  place(job: NewJob): void {
    for (const extension of this.#placing) {
      const queue = extension.place?.(job);
      if (queue !== undefined) (job as { queue: string }).queue = queue;
    }
  }

  /** The first that has to think about it; undefined: none of them has. */
  refuses(job: NewJob): Promise<HoldfastError | undefined> | undefined {
    for (const extension of this.#refusing) {
      const answer = this.#askSoon(extension, "refuses", () => extension.refuses!(job));
      if (answer instanceof Promise) return answer;
    }
    return undefined;
  }

  enqueued(job: NewJob, answer: InsertResult): void {
    for (const extension of this.#toldOfEnqueues) {
      this.#tell(extension, "enqueued", () => extension.enqueued!(job, answer));
    }
  }

  /** All of them have had their last word. */
  async closing(): Promise<void> {
    const having = this.#all.filter(({ closing }) => closing !== undefined);
    await Promise.all(
      having.map((one) => this.#ask(one, "closing", () => one.closing!(), CLOSING_MS)),
    );
  }

  #decision(extension: Extension, attempt: AttemptView, outcome: Outcome) {
    try {
      const answer = extension.decided!(attempt, outcome);
      return answer instanceof Promise ? this.#awaited(extension, "decided", answer) : answer;
    } catch (error) {
      this.#failed(extension, "decided", error);
      return undefined;
    }
  }

  async #decidedLater(
    hooks: Hooks,
    attempt: AttemptView,
    before: Decided,
    from: number,
    first: Promise<Decision | undefined>,
  ): Promise<Decided> {
    let decided = withDecision(before, await first);
    for (const extension of hooks.decided.slice(from + 1)) {
      decided = withDecision(decided, await this.#decision(extension, attempt, decided.outcome));
    }
    return decided;
  }

  #hooksOf(contract: JobContract | null): Hooks {
    const concerned = this.#all.filter(({ applies }) =>
      contract === null ? applies === undefined : (applies?.(contract) ?? true),
    );
    const having = (hook: "before" | "around" | "decided" | "ended") =>
      concerned.filter((extension) => extension[hook] !== undefined);
    return {
      before: having("before"),
      around: having("around"),
      decided: having("decided").toReversed(),
      ended: having("ended"),
    };
  }

  #tell(extension: Extension, hook: string, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#failed(extension, hook, error);
    }
  }

  async #ask<Out>(
    extension: Extension,
    hook: string,
    call: () => Out | undefined | Promise<Out | undefined>,
    withinMs = HOOK_MS,
  ): Promise<Out | undefined> {
    return this.#askSoon(extension, hook, call, withinMs);
  }

  #askSoon<Out>(
    extension: Extension,
    hook: string,
    call: () => Out | undefined | Promise<Out | undefined>,
    withinMs = HOOK_MS,
  ): Out | undefined | Promise<Out | undefined> {
    try {
      const answer = call();
      return answer instanceof Promise ? this.#awaited(extension, hook, answer, withinMs) : answer;
    } catch (error) {
      this.#failed(extension, hook, error);
      return undefined;
    }
  }

  #awaited<Out>(
    extension: Extension,
    hook: string,
    answer: Promise<Out | undefined>,
    withinMs = HOOK_MS,
  ): Promise<Out | undefined> {
    return this.#inTime(answer, withinMs).catch((error: unknown) => {
      this.#failed(extension, hook, error);
      return undefined;
    });
  }

  #inTime<Out>(answer: Promise<Out>, ms: number): Promise<Out> {
    return new Promise((resolve, reject) => {
      const timer = this.#runtime.timer(ms, () =>
        reject(new Error(`it did not answer within ${ms} ms`)),
      );
      answer.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  #failed({ name }: Extension, hook: string, error: unknown): void {
    const key = `${name}.${hook}`;
    this.failures.set(key, (this.failures.get(key) ?? 0) + 1);
    this.#logger.error(`the hook ${key} failed; the job goes on without it`, { error });
  }
}

/** At once if it is known, else when it is. */
function after<In, Out>(
  value: In | Promise<In>,
  next: (value: In) => Out | Promise<Out>,
): Out | Promise<Out> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** What all of them together decided. */
export interface Decided {
  readonly outcome: Outcome;
  readonly entries: readonly LedgerEntry[];
}

function withDecision(decided: Decided, decision: Decision | undefined): Decided {
  if (!decision) return decided;
  const { outcome, entries = [] } = decision;
  return {
    outcome,
    entries: entries.length > 0 ? [...decided.entries, ...entries] : decided.entries,
  };
}
