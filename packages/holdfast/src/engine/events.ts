/**
 * What this process's own workers and enqueues did, told after the store has it. Other processes are seen through
 * the store. A listener that throws is reported; jobs and other listeners go on.
 */
import type { Alert } from "../core/alert.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { checkFunction, nearestWord } from "../core/option-checks.ts";
import { show } from "../core/text.ts";
import type { ErrorCategory, Failure } from "../core/job.ts";
import { runAsNobody } from "./run/current-attempt.ts";
import type { Logger } from "./logger.ts";

export interface AboutJob {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  readonly group: string | null;
  readonly attempt: number;
  readonly worker: string;
}

interface Timed {
  /** From when it was due to the start of its handler. */
  readonly waitedMs: number;
  readonly ranMs: number;
}

export interface JobEvents {
  /** This process has enqueued a job, and it is stored. */
  enqueued: Omit<AboutJob, "attempt" | "worker">;
  started: AboutJob & { readonly waitedMs: number };
  succeeded: AboutJob & Timed;
  /** Every failed attempt. */
  failed: AboutJob &
    Timed & {
      readonly failure: Failure;
      readonly willRetry: boolean;
      readonly retryInMs: number | null;
    };
  /** Once, at the end. */
  dead: AboutJob &
    Timed & {
      readonly reason: string;
      readonly category: ErrorCategory;
      readonly failure: Failure;
    };
  cancelled: AboutJob & { readonly reason: string | null };
  snoozed: AboutJob & { readonly forMs: number };
  /** Handed back, the attempt not spent: a stop, an unknown type. */
  released: AboutJob & { readonly reason: string };
  /** The lease was lost; nothing the handler says is stored any more. */
  lost: AboutJob;
  /** A handler went on after its signal aborted and its job was settled without it. */
  abandoned: AboutJob & { readonly reason: string };
  /** Expired leases of (other) workers went back to their lines. */
  reaped: { readonly count: number; readonly workers: readonly string[] };
  /** This process has raised an alert. */
  alert: Alert;
}

export type EventName = keyof JobEvents;

const NAMES: Readonly<Record<EventName, true>> = {
  ...{ enqueued: true, started: true, succeeded: true, failed: true, dead: true, cancelled: true },
  ...{ snoozed: true, released: true, lost: true, abandoned: true, reaped: true },
  ...{ alert: true },
};
/** What other job systems call them, where it is not near. */
const OTHER_WORDS: Readonly<Record<string, EventName>> = {
  ...{ completed: "succeeded", complete: "succeeded", success: "succeeded", finished: "succeeded" },
  ...{ done: "succeeded", active: "started", start: "started", added: "enqueued" },
  ...{ waiting: "enqueued", error: "failed", stalled: "reaped", removed: "cancelled" },
};
export type EventListener<Name extends EventName> = (event: JobEvents[Name]) => void;

export class Events {
  readonly #listeners = new Map<EventName, Set<(event: never) => void>>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Returns the way to stop listening. */
  on<Name extends EventName>(name: Name, listener: EventListener<Name>): () => void {
    checkEventName(name);
    checkFunction(`the listener for "${name}"`, listener);
    let listeners = this.#listeners.get(name);
    if (!listeners) this.#listeners.set(name, (listeners = new Set()));
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** The event is made only if there is a listener: most jobs pass unheard. */
  emit<Name extends EventName>(name: Name, make: () => JobEvents[Name]): void {
    const listeners = this.#listeners.get(name);
    if (!listeners || listeners.size === 0) return;
    const event = make();
    for (const listener of listeners) {
      try {
        const told = runAsNobody(() => (listener as (event: JobEvents[Name]) => unknown)(event));
        // An asynchronous one fails later, and with nobody to hear of it that would end the process.
        if (told instanceof Promise) told.catch((error: unknown) => this.#threw(name, error));
      } catch (error) {
        this.#threw(name, error);
      }
    }
  }

  #threw(name: EventName, error: unknown): void {
    this.#logger.error(`a listener for "${name}" threw; events go on without it`, { error });
  }
}

/** A listener for an event that never comes would wait for ever, in silence. */
function checkEventName(name: unknown): void {
  if (typeof name === "string" && Object.hasOwn(NAMES, name)) return;
  const known = Object.keys(NAMES);
  const word = typeof name === "string" ? name : "";
  const meant = Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : nearestWord(word, known);
  throw new InvalidOptionError(
    `there is no event ${show(name)}: ` +
      (meant ? `did you mean "${meant}"?` : `the events are ${known.join(", ")}`),
  );
}
