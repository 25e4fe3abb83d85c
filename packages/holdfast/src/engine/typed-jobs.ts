/** The types that let `hf.enqueue("email.send", …)` and `hf.define({ … })` know their payloads. */
import type { EnqueueOptions, JobContract, JobOptions } from "../core/contract.ts";
import type { InferOutput, StandardSchema } from "../core/standard-schema.ts";
import type { Receipt, ReceiptStatus } from "./produce/producer.ts";
import type { Intent, RunningJob } from "./run/running-job.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- any contract, whatever its types
export type AnyContract = JobContract<string, any, any, any>;

export type InputOf<Contract> =
  Contract extends JobContract<string, infer Input, infer _Output, infer _Result> ? Input : never;
export type OutputOf<Contract> =
  Contract extends JobContract<string, infer _Input, infer Output, infer _Result> ? Output : never;
export type ResultOf<Contract> =
  Contract extends JobContract<string, infer _Input, infer _Output, infer Result> ? Result : never;

/**
 * The types of the contracts given to `new Holdfast({ jobs })`; those whose type the compiler knows
 * only as `string` cannot be told apart and are left out.
 */
export type TypeOf<Jobs extends readonly AnyContract[]> = NarrowTypeOf<Jobs[number]>;
type NarrowTypeOf<Contract> = Contract extends { readonly type: infer Type extends string }
  ? string extends Type
    ? never
    : Type
  : never;
export type ContractOf<Jobs extends readonly AnyContract[], Type extends string> = Extract<
  Jobs[number],
  { readonly type: Type }
>;

/** A handler may return an intent instead of a result. */
export type HandlerResult<Returned> = Exclude<Awaited<Returned>, Intent>;

export interface DefineWithSchema<
  Type extends string,
  Schema extends StandardSchema,
  Returned,
> extends JobOptions<Type, Schema, StandardSchema | undefined> {
  readonly payload: Schema;
  run(job: RunningJob<InferOutput<Schema>>): Returned;
}

export interface DefineWithout<Type extends string, Payload, Returned> extends JobOptions<
  Type,
  undefined,
  StandardSchema | undefined
> {
  run(job: RunningJob<Payload>): Returned;
}

/** A contract that has its handler here: it can enqueue by itself. */
export interface DefinedJob<
  Type extends string = string,
  Input = unknown,
  Output = Input,
  Result = unknown,
  Status extends ReceiptStatus = "added" | "duplicate",
> extends JobContract<Type, Input, Output, Result> {
  enqueue(payload: Input, options?: EnqueueOptions): Promise<Receipt<Result, Status>>;
}
