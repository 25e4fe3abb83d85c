/** Handlers by a service, for modules that register them in `onModuleInit`. */
import { defineJob, InvalidOptionError, type Holdfast, type JobContract } from "holdfast";
import type { HandlerOptions } from "../decorators/notes.ts";
import { asDocument, type IJobHandler, type JobDocument } from "./job-document.ts";

type Run = (job: JobDocument) => unknown;

export class QueueWorkerService {
  readonly #hf: Holdfast;
  /** Of types that are known by name only. */
  readonly defaultQueue: string;
  /** The queues of this process's worker, once it works. */
  #worked: ReadonlySet<string> | null = null;

  constructor(hf: Holdfast, defaultQueue: string) {
    this.#hf = hf;
    this.defaultQueue = defaultQueue;
  }

  /** `handler` has `handle(job)`. Before the application has started: in `onModuleInit`. */
  registerHandler(type: string, handler: IJobHandler): void {
    if (typeof (handler as Partial<IJobHandler> | null | undefined)?.handle !== "function") {
      throw new InvalidOptionError(
        `registerHandler("${type}", handler) needs an object with handle(job): is its provider resolved?`,
      );
    }
    this.add(type, null, (job) => handler.handle(job));
  }

  /** @internal */
  add(target: string | JobContract, options: HandlerOptions | null, run: Run): void {
    const contract = this.#contractOf(target, options);
    const queue = typeof contract === "string" ? this.#queueOf(contract) : contract.queue;
    if (this.#worked !== null && !this.#worked.has(queue)) {
      throw new InvalidOptionError(
        `a handler for queue "${queue}" comes too late: this process's worker does not take it. Register handlers in onModuleInit, or name the queue in work.queues`,
      );
    }
    const handler = (job: Parameters<typeof asDocument>[0]) => run(asDocument(job));
    if (typeof contract === "string") this.#hf.handle(contract, handler as never);
    else this.#hf.handle(contract, handler as never);
  }

  /** @internal The worker has started. */
  works(queues: ReadonlySet<string>): void {
    this.#worked = queues;
  }

  #contractOf(target: string | JobContract, options: HandlerOptions | null): string | JobContract {
    if (typeof target !== "string") return target;
    if (this.#hf.tools.type(target) === null) {
      return defineJob({ queue: this.defaultQueue, ...options, type: target });
    }
    if (options === null) return target;
    throw new InvalidOptionError(
      `type "${target}" has a contract already: write @JobHandler(contract), without options`,
    );
  }

  #queueOf(type: string): string {
    return this.#hf.tools.type(type)?.queue ?? this.defaultQueue;
  }
}
