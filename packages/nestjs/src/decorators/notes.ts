/**
 * What decorators say of a class, kept on the class itself. A symbol of the whole process, so that two copies of this
 * package still read each other; no metadata library of our own.
 */
import type { EventName, JobContract, JobItem, JobOptions } from "holdfast";
import type { TickOptions } from "./schedule.ts";

/** What a handler by name may say of its type: all that a contract may. */
export type HandlerOptions = Omit<JobOptions, "type">;

export interface HandlerNote {
  readonly kind: "handler";
  readonly target: string | JobContract;
  readonly options: HandlerOptions | null;
}

export interface ListenerNote {
  readonly kind: "listener";
  readonly event: EventName;
  /** Null: of every type. */
  readonly types: readonly string[] | null;
}

export interface ScheduleNote {
  readonly kind: "schedule";
  readonly name: string;
  readonly rule: TickOptions;
  /** Of a tick; the job of the handler that it stands on, unless `job` says which. */
  readonly payload: unknown;
  readonly job: JobItem | null;
}

export type Note = HandlerNote | ListenerNote | ScheduleNote;

/** A note, and the method that it stands on; null: the class. */
export interface Noted {
  readonly method: string | symbol | null;
  readonly note: Note;
}

const NOTES = Symbol.for("@holdfast/nestjs: notes");

type Noting = object & { [NOTES]?: Noted[] };

/** `target` is the class of a class decorator, the prototype of a method decorator. */
export function addNote(target: object, method: string | symbol | null, note: Note): void {
  const home = (typeof target === "function" ? target : target.constructor) as Noting;
  // Its own list: a class must not write into that of its parent.
  const notes = Object.hasOwn(home, NOTES) ? (home[NOTES] ?? []) : [];
  Object.defineProperty(home, NOTES, { value: [...notes, { method, note }], configurable: true });
}

/**
 * Of a class and, for its methods, of what it extends. A note on the parent class itself stays there: two classes
 * cannot handle one type.
 */
export function notesOf(type: object): readonly Noted[] {
  const found: Noted[] = [];
  for (
    let at: object | null = type;
    at !== null && at !== Function.prototype;
    at = Object.getPrototypeOf(at) as object | null
  ) {
    const own = Object.hasOwn(at, NOTES) ? ((at as Noting)[NOTES] ?? []) : [];
    const below = [...found];
    found.push(...(at === type ? own : own.filter((one) => !isReplaced(one, below))));
  }
  return found;
}

/** A method that is decorated again says it anew: it would hear each event twice, or have its type taken by itself. */
function isReplaced({ method, note }: Noted, below: readonly Noted[]): boolean {
  const isSame = (one: Noted) => one.method === method && one.note.kind === note.kind;
  return method === null || below.some(isSame);
}
