/** What `hf.define` makes: a contract that can enqueue by itself, and its handler. */
import {
  defineJob,
  type EnqueueOptions,
  type JobContract,
  type JobOptions,
} from "./core/contract.ts";
import { InvalidOptionError } from "./core/errors.ts";
import { checkObject } from "./core/option-checks.ts";
import type { Receipt, ReceiptStatus } from "./engine/produce/producer.ts";
import type { Handler } from "./engine/registry.ts";
import type { DefinedJob } from "./engine/typed-jobs.ts";

type Enqueue = (
  job: JobContract,
  payload: unknown,
  options: EnqueueOptions | undefined,
) => Promise<Receipt<unknown, ReceiptStatus>>;

export function definedJob(
  given: JobOptions & { readonly run?: unknown },
  enqueue: Enqueue,
): {
  readonly defined: DefinedJob<string, unknown, unknown, unknown, ReceiptStatus>;
  readonly run: Handler;
} {
  checkObject("what hf.define takes", given);
  const { run, ...options } = given;
  if (typeof run !== "function") {
    throw new InvalidOptionError("hf.define needs run(job) { … }; a contract alone is defineJob");
  }
  const defined: DefinedJob<string, unknown, unknown, unknown, ReceiptStatus> = {
    ...(defineJob(options as JobOptions<string, undefined>) as JobContract),
    enqueue: (payload, enqueueOptions) => enqueue(defined, payload, enqueueOptions),
    of: (payload, itemOptions) => ({
      ...itemOptions,
      type: defined.type,
      payload,
      contract: defined,
    }),
  };
  return { defined, run: run as Handler };
}
