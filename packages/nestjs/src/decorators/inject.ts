/** How providers get the Holdfast, or one type of job. */
import { Inject } from "@nestjs/common";
import { Holdfast, type EnqueueOptions, type JobContract, type Receipt } from "holdfast";

/** `constructor(@InjectHoldfast() private readonly hf: Holdfast)`; where types are emitted, `hf: Holdfast` is enough. */
export function InjectHoldfast(): ParameterDecorator & PropertyDecorator {
  return Inject(Holdfast);
}

/** What `@InjectJob(contract)` injects: a type of job that can be enqueued. */
export interface JobPort<Input = unknown, Result = unknown> {
  readonly contract: JobContract;
  enqueue(payload: Input, options?: EnqueueOptions): Promise<Receipt<Result>>;
}

/** Where `HoldfastModule.forFeature([contract])` was imported. */
export function InjectJob(
  contract: Pick<JobContract, "type">,
): ParameterDecorator & PropertyDecorator {
  return Inject(jobToken(contract));
}

/** For `moduleRef.get(jobToken(contract))`, and to override it in a test. */
export function jobToken({ type }: Pick<JobContract, "type">): string {
  return `@holdfast/nestjs: job ${type}`;
}
