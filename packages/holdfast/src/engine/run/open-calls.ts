/**
 * What a handler has asked of its job and not heard the end of. A forgotten `await` on a step used to end
 * the whole process: the attempt was over before the step was, so its write was refused, and nobody
 * caught the error. Now an attempt ends when its handler has ended and everything it asked of its job has:
 *
 * - A call that is still open then is waited for, and the log names the line where it was made.
 * - One that failed and that no code ever listened to fails the attempt, as it would have with `await`.
 * - One that is made when the attempt is over fails, and the log says where it was made.
 */
import type { Logger } from "../logger.ts";
import type { Runtime } from "../runtime.ts";
import { heard, type Heard } from "./heard.ts";
import type { Ending } from "./run-handler.ts";

export interface OpenCallsOptions {
  /** The type of the job. */
  readonly type: string;
  readonly runtime: Runtime;
  readonly logger: Logger;
}

interface Call {
  /** As the handler wrote it: `job.step("charge")`. */
  readonly what: string;
  readonly site: { readonly stack?: string };
  readonly answer: Heard<unknown>;
}

export class OpenCalls {
  readonly #options: OpenCallsOptions;
  readonly #open = new Map<Call, Promise<unknown>>();
  readonly #failed: { readonly call: Call; readonly error: unknown }[] = [];
  #isOver = false;

  constructor(options: OpenCallsOptions) {
    this.#options = options;
  }

  /** `method` is what the handler called: the line above it is the handler's. */
  track<Out>(what: string, method: object, asked: Promise<Out>): Promise<Out> {
    const answer = heard(asked);
    const call: Call = { what, site: callSite(method), answer };
    const settled = asked.then(
      () => void this.#open.delete(call),
      (error: unknown) => {
        this.#open.delete(call);
        this.#failedWith(call, error);
      },
    );
    this.#open.set(call, settled);
    return answer;
  }

  /** Nothing is open, and nothing failed unheard. */
  get isQuiet(): boolean {
    return this.#open.size === 0 && !this.#failed.some(({ call }) => !call.answer.isHeard);
  }

  /** The attempt is over: nobody waits for what is asked from here on. */
  close(): void {
    this.#isOver = true;
  }

  /** The handler has ended like this. Resolves when all it asked for has ended, too. */
  async finish(ending: Ending): Promise<Ending> {
    const { logger, runtime, type } = this.#options;
    for (const call of this.#open.keys()) {
      logger.warn(
        `${call.what} was not awaited${lineOf(call)}: the handler of ${type} ended before it did; put await before it`,
      );
    }
    while (this.#open.size > 0) {
      await Promise.all(this.#open.values());
      // What follows such a call in code that nobody awaits has its turn: it may make the next one.
      await new Promise<void>((resolve) => runtime.defer(resolve));
    }
    this.#isOver = true;
    const unheard = this.#failed.find(({ call }) => !call.answer.isHeard);
    if (!unheard || ending.kind === "threw") return ending;
    return { kind: "threw", error: unheard.error };
  }

  #failedWith(call: Call, error: unknown): void {
    if (!this.#isOver) {
      this.#failed.push({ call, error });
      return;
    }
    const { runtime, logger, type } = this.#options;
    runtime.defer(() => {
      if (call.answer.isHeard) return;
      logger.warn(
        `${call.what} was called${lineOf(call)} after its attempt at a job of ${type} had ended, and failed: await everything that the handler starts`,
        { error },
      );
    });
  }
}

/** One frame, written out only if it is asked for: a call pays for neither. */
function callSite(method: object): { readonly stack?: string } {
  const site: { readonly stack?: string } = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 1;
  Error.captureStackTrace(site, method as () => void);
  Error.stackTraceLimit = limit;
  return site;
}

function lineOf({ site }: Call): string {
  const line = String(site.stack ?? "")
    .split("\n")
    .find((text) => /^\s+at /.test(text));
  return line === undefined ? "" : ` (${line.trim()})`;
}
