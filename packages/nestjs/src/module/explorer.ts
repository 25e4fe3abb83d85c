/**
 * Finds what decorators say of the providers of an application, and tells the Holdfast. It runs before every other
 * module's `onModuleInit`, so that those may enqueue by name.
 */
import { Logger } from "@nestjs/common";
import { ContextIdFactory, type DiscoveryService, type ModuleRef } from "@nestjs/core";
import { InvalidOptionError, TypeTakenError, type Holdfast, type JobContract } from "holdfast";
import {
  notesOf,
  type HandlerNote,
  type ListenerNote,
  type Noted,
  type ScheduleNote,
} from "../decorators/notes.ts";
import type { JobDocument } from "../queue/job-document.ts";
import type { QueueWorkerService } from "../queue/queue-worker-service.ts";

type Wrapper = ReturnType<DiscoveryService["getProviders"]>[number];
type Method = (given: unknown) => unknown;

/** One class of the application, where it comes from, and how to get an instance for a job. */
interface Found {
  readonly name: string;
  readonly wrapper: Wrapper;
  readonly notes: readonly Noted[];
  /** Same for every job; else one is made for each. */
  readonly isStatic: boolean;
}

export interface ExplorerParts {
  readonly hf: Holdfast;
  readonly worker: QueueWorkerService;
  readonly discovery: DiscoveryService;
  readonly moduleRef: ModuleRef;
}

export class Explorer {
  readonly #parts: ExplorerParts;
  readonly #logger = new Logger("Holdfast");
  /** Which class has which type, for whom a second one is a mistake. */
  readonly #takenBy = new Map<string, string>();

  constructor(parts: ExplorerParts) {
    this.#parts = parts;
  }

  onModuleInit(): void {
    const found = this.#find();
    // Schedules name handlers, so they come last.
    for (const one of found) this.#addHandlers(one);
    for (const one of found) this.#addListeners(one);
    for (const one of found) this.#addSchedules(one);
  }

  #find(): Found[] {
    const { discovery } = this.#parts;
    const seen = new Set<unknown>();
    return [...discovery.getProviders(), ...discovery.getControllers()].flatMap((wrapper) => {
      const type = classOf(wrapper);
      if (type === null) return [];
      const notes = notesOf(type);
      const isStatic = wrapper.isDependencyTreeStatic() && !wrapper.isTransient;
      // An alias of a provider is the same instance.
      const key: unknown = isStatic ? wrapper.instance : wrapper;
      if (notes.length === 0 || seen.has(key)) return [];
      seen.add(key);
      return [{ name: type.name, wrapper, notes, isStatic }];
    });
  }

  #addHandlers(found: Found): void {
    for (const { method, note } of found.notes) {
      if (note.kind === "handler") this.#addHandler(found, method, note);
    }
    for (const { method, note } of found.notes) {
      // A method with a schedule alone handles its ticks.
      const isAlone = note.kind === "schedule" && method !== null && note.job === null;
      if (!isAlone || handlerOf(found, method) !== null) continue;
      this.#addHandler(found, method, { kind: "handler", target: note.name, options: null });
    }
  }

  #addHandler(found: Found, method: string | symbol | null, note: HandlerNote): void {
    const { target, options } = note;
    const type = typeOf(target);
    const where = placeOf(found, method);
    const other = this.#takenBy.get(type);
    if (other !== undefined) {
      throw new TypeTakenError(
        `type "${type}" is handled by ${other} and by ${where}: one type, one handler. A class that two modules provide is provided by one and exported to the other`,
      );
    }
    this.#takenBy.set(type, where);
    const key = method ?? "handle";
    if (typeof (prototypeOf(found) as Record<string | symbol, unknown>)[key] !== "function") {
      throw new InvalidOptionError(
        `${where} has @JobHandler("${type}") and no method handle(job): add it, or decorate a method`,
      );
    }
    this.#parts.worker.add(target, options, async (job) => this.#call(found, key, job, job));
  }

  #addListeners(found: Found): void {
    for (const { method, note } of found.notes) {
      if (note.kind === "listener" && method !== null) this.#addListener(found, method, note);
    }
  }

  #addListener(found: Found, method: string | symbol, { event, types }: ListenerNote): void {
    this.#parts.hf.on(event, (told: object) => {
      const { type } = told as { readonly type?: unknown };
      if (types !== null && !types.includes(String(type))) return;
      this.#call(found, method, told, null).catch((error: unknown) => {
        const stack = error instanceof Error && error.stack ? this.#clean(error.stack) : undefined;
        const where = placeOf(found, method);
        this.#logger.error(`${where} threw when told "${event}"; jobs go on without it`, stack);
      });
    });
  }

  #clean(text: string): string {
    return this.#parts.hf.tools.redact.text(text);
  }

  #addSchedules(found: Found): void {
    for (const { method, note } of found.notes) {
      if (note.kind === "schedule") this.#addSchedule(found, method, note);
    }
  }

  #addSchedule(found: Found, method: string | symbol | null, note: ScheduleNote): void {
    const { name, rule, payload, job } = note;
    const handled = handlerOf(found, method);
    const type = handled === null ? (method === null ? null : name) : typeOf(handled.target);
    if (job === null && type === null) {
      throw new InvalidOptionError(
        `@Schedule("${name}") on ${placeOf(found, method)} has no job: put it on a class with @JobHandler, on a method, or give it job`,
      );
    }
    this.#parts.hf.schedule(name, { ...rule, job: job ?? { type: type as string, payload } });
  }

  /** Of a class that lives for one request, an instance lives for one job; `REQUEST` injects the job. */
  async #call(
    { wrapper, isStatic }: Found,
    method: string | symbol,
    given: unknown,
    job: JobDocument | null,
  ): Promise<unknown> {
    if (isStatic) return callOf(wrapper.instance, method)(given);
    const { moduleRef } = this.#parts;
    const context = ContextIdFactory.create();
    moduleRef.registerRequestByContextId(job ?? given, context);
    const instance: unknown = await moduleRef.resolve(wrapper.token as never, context, {
      strict: false,
    });
    return callOf(instance, method)(given);
  }
}

function callOf(instance: unknown, method: string | symbol): Method {
  const target = instance as Record<string | symbol, Method>;
  return (given) => target[method]?.(given);
}

/** Of a provider by factory or value, the class of what it gave. */
function classOf(wrapper: Wrapper): (new () => object) | null {
  const { metatype, inject } = wrapper;
  const isClass = typeof metatype === "function" && !inject && metatype.prototype !== undefined;
  if (isClass && notesOf(metatype).length > 0) return metatype as new () => object;
  const instance: unknown = wrapper.isDependencyTreeStatic() ? wrapper.instance : null;
  if (typeof instance !== "object" || instance === null) return null;
  const { constructor } = instance as { readonly constructor?: unknown };
  return typeof constructor === "function" ? (constructor as new () => object) : null;
}

function prototypeOf({ wrapper }: Found): object {
  return (classOf(wrapper)?.prototype ?? {}) as object;
}

function handlerOf({ notes }: Found, method: string | symbol | null): HandlerNote | null {
  const found = notes.find((one) => one.note.kind === "handler" && one.method === method);
  return (found?.note as HandlerNote | undefined) ?? null;
}

function typeOf(target: string | JobContract): string {
  return typeof target === "string" ? target : target.type;
}

function placeOf({ name }: Found, method: string | symbol | null): string {
  return method === null ? name : `${name}.${String(method)}`;
}
