/** `@OnJob("dead")` on a method: it hears what this process's own workers and enqueues did. */
import type { EventName, JobContract, JobEvents } from "holdfast";
import { addNote } from "./notes.ts";

export interface OnJobOptions {
  /** Only of these: names, or contracts. Default: of all. */
  readonly type?: TypeName | readonly TypeName[] | undefined;
}

type TypeName = string | Pick<JobContract, "type">;

export type OnJobDecorator<Name extends EventName> = <
  Method extends (event: JobEvents[Name]) => unknown,
>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

export function OnJob<Name extends EventName>(
  event: Name,
  options: OnJobOptions = {},
): OnJobDecorator<Name> {
  const { type } = options;
  const given = type === undefined ? null : Array.isArray(type) ? type : [type];
  const types = given && (given as TypeName[]).map(nameOf);
  return (target, method) => addNote(target, method, { kind: "listener", event, types });
}

function nameOf(type: TypeName): string {
  return typeof type === "string" ? type : type.type;
}
