/** The types that let `hf.enqueue("email.send", …)` and `hf.define({ … })` know their payloads. */
import type { EnqueueOptions, JobContract, JobOptions } from "../core/contract.ts";
import type { StoredResult } from "../core/jsonified.ts";
import type { LockOptions } from "../core/lock-options.ts";
import type { InferInput, InferOutput, StandardSchema } from "../core/standard-schema.ts";
import type { Receipt, ReceiptStatus } from "./produce/producer.ts";
import type { Returns } from "./registry.ts";
import type { Intent, RunningJob } from "./run/running-job.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- any contract, whatever its types
export type AnyContract = JobContract<string, any, any, any, any>;

export type InputOf<Contract> =
  Contract extends JobContract<string, infer Input, infer _Output, infer _Result, infer _Returned>
    ? Input
    : never;
export type OutputOf<Contract> =
  Contract extends JobContract<string, infer _Input, infer Output, infer _Result, infer _Returned>
    ? Output
    : never;
export type ResultOf<Contract> =
  Contract extends JobContract<string, infer _Input, infer _Output, infer Result, infer _Returned>
    ? Result
    : never;
/** What its handler must return. */
export type ReturnedOf<Contract> =
  Contract extends JobContract<string, infer _Input, infer _Output, infer _Result, infer Returned>
    ? Returned
    : never;

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

/** What an item of this type carries: that of its contract where `jobs` has one, else anything. */
export type PayloadOf<Jobs extends readonly AnyContract[], Type extends string> =
  Type extends TypeOf<Jobs> ? InputOf<ContractOf<Jobs, Type>> : unknown;

/** A handler may return an intent instead of a result. */
export type HandlerResult<Returned> = StoredResult<Exclude<Awaited<Returned>, Intent>>;

/** What a handler gets, what it may return and what is stored of it follow from the schemas, where there are any. */
export interface DefineOptions<
  Type extends string,
  Schema extends StandardSchema | undefined,
  ResultSchema extends StandardSchema | undefined,
  Returned,
  Payload,
> extends JobOptions<Type, Schema, ResultSchema> {
  readonly lock?: LockOptions<HandledPayload<Schema, Payload>> | undefined;
  run(job: RunningJob<HandledPayload<Schema, Payload>, ReturnedFor<ResultSchema>>): Returned;
}

type HandledPayload<Schema, Payload> = Schema extends StandardSchema
  ? InferOutput<Schema>
  : Payload;
type GivenPayload<Schema, Payload> = Schema extends StandardSchema ? InferInput<Schema> : Payload;
type ReturnedFor<Schema> = Schema extends StandardSchema ? InferInput<Schema> : unknown;
/** What `run` must return: with a result schema, what that takes. */
export type RunReturns<Schema> = Schema extends StandardSchema
  ? Returns<InferInput<Schema>>
  : unknown;

/** What `hf.define` makes of its options. */
export type Defined<
  Type extends string,
  Schema,
  ResultSchema,
  Returned,
  Payload,
  Status extends ReceiptStatus,
> = DefinedJob<
  Type,
  GivenPayload<Schema, Payload>,
  HandledPayload<Schema, Payload>,
  ResultSchema extends StandardSchema
    ? StoredResult<InferOutput<ResultSchema>>
    : HandlerResult<Returned>,
  Status
>;

/** A contract that has its handler here: it can enqueue by itself. */
export interface DefinedJob<
  Type extends string = string,
  Input = unknown,
  Output = Input,
  Result = unknown,
  Status extends ReceiptStatus = "added" | "duplicate",
  Returned = Result,
> extends JobContract<Type, Input, Output, Result, Returned> {
  enqueue(payload: Input, options?: EnqueueOptions): Promise<Receipt<Result, Status>>;
}
