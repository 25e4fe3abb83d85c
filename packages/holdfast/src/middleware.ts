/** A user's own middleware: the public part of the extension contract. */
import { checkFunction, checkObject, checkOptions } from "./core/option-checks.ts";
import type { EventListener, EventName, Events } from "./engine/events.ts";
import type { AttemptView } from "./engine/extension.ts";
import type { Extensions } from "./engine/extensions.ts";

/** What `hf.use` takes: tracing, a user's own middleware. */
export interface Middleware {
  /** For logs. */
  readonly name?: string | undefined;
  /**
   * Around every handler of this process. Calls `next()` once and returns what it gives; a throw fails the
   * attempt as a throw of the handler would.
   */
  readonly around?:
    ((attempt: AttemptView, next: () => Promise<unknown>) => Promise<unknown>) | undefined;
  /** Listeners, as for `hf.on`. */
  readonly on?: { readonly [Name in EventName]?: EventListener<Name> } | undefined;
}

/** Returns the way to stop it. */
export function useMiddleware(
  { events, extensions }: { readonly events: Events; readonly extensions: Extensions },
  middleware: Middleware,
): () => void {
  checkOptions("use", middleware, ["name", "around", "on"]);
  const { name = "middleware", around, on = {} } = middleware;
  if (around !== undefined) checkFunction("around", around);
  checkObject("use({ on })", on);
  const undo = Object.entries(on).map(([event, listener]) => {
    checkFunction(`on.${event}`, listener);
    return events.on(event as EventName, listener as EventListener<EventName>);
  });
  if (around) undo.push(extensions.add({ name, around }));
  return () => undo.forEach((stop) => stop());
}
