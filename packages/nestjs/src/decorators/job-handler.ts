/**
 * `@JobHandler("email.send")` on a class with `handle(job)`, or on a method: it runs the jobs of that type.
 * With a contract instead of a name, payload and result are typed by it.
 */
import { InvalidOptionError, type Handler, type JobContract } from "holdfast";
import type { JobDocument } from "../queue/job-document.ts";
import { addNote, type HandlerOptions } from "./notes.ts";

type Returns<Returned> = ReturnType<Handler<unknown, Returned>>;

/** A class with `handle`, or a method. */
export interface JobHandlerDecorator<Payload, Returned> {
  (
    target: abstract new (...args: never[]) => {
      handle(job: JobDocument<Payload, Returned>): Returns<Returned>;
    },
  ): void;
  <Method extends (job: JobDocument<Payload, Returned>) => Returns<Returned>>(
    target: object,
    method: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): void;
}

export function JobHandler<Input, Output, Result, Returned>(
  contract: JobContract<string, Input, Output, Result, Returned>,
): JobHandlerDecorator<Output, Returned>;
export function JobHandler(
  type: string,
  options?: HandlerOptions,
  // oxlint-disable-next-line typescript/no-explicit-any -- a type by name says nothing of its payload
): JobHandlerDecorator<any, unknown>;
export function JobHandler(
  given: string | object,
  options?: HandlerOptions,
): JobHandlerDecorator<never, unknown> {
  const target = given as string | JobContract;
  if (typeof target !== "string" && options !== undefined) {
    throw new InvalidOptionError("@JobHandler with a contract takes no options: they are in it");
  }
  return (on: object, method?: string | symbol) => {
    addNote(on, method ?? null, { kind: "handler", target, options: options ?? null });
  };
}
