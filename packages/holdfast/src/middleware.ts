/** A user's own middleware: the public part of the extension contract. */
import { checkFunction, checkObject, checkOptions } from "./core/option-checks.ts";
import type { EventListener, EventName, Events } from "./engine/events.ts";
import type { AttemptView } from "./engine/extension.ts";
import type { Extensions } from "./engine/extensions.ts";
import type { Logger } from "./engine/logger.ts";
import { heard } from "./engine/run/heard.ts";

type Around = (attempt: AttemptView, next: () => Promise<unknown>) => Promise<unknown>;

/** What `hf.use` takes: tracing, a user's own middleware. */
export interface Middleware {
  /** For logs. */
  readonly name?: string | undefined;
  /**
   * Around every handler of this process. Calls `next()` once and returns what it gives, or nothing, which is
   * the same; a throw fails the attempt as a throw of the handler would.
   */
  readonly around?: Around | undefined;
  /** Listeners, as for `hf.on`. */
  readonly on?: { readonly [Name in EventName]?: EventListener<Name> } | undefined;
}

/** Returns the way to stop it. */
export function useMiddleware(
  engine: { readonly events: Events; readonly extensions: Extensions; readonly logger: Logger },
  middleware: Middleware,
): () => void {
  const { events, extensions, logger } = engine;
  checkOptions("use", middleware, ["name", "around", "on"]);
  const { name = "middleware", around, on = {} } = middleware;
  if (around !== undefined) checkFunction("around", around);
  checkObject("use({ on })", on);
  const undo = Object.entries(on).map(([event, listener]) => {
    checkFunction(`on.${event}`, listener);
    return events.on(event as EventName, listener as EventListener<EventName>);
  });
  if (around) undo.push(extensions.add({ name, around: carefully(name, around, logger) }));
  return () => undo.forEach((stop) => stop());
}

/**
 * Elsewhere middleware says `await next()` and returns nothing, and here and there the `await` is forgotten. By that
 * no result may get lost, no job may count as done while its handler runs, and no failure may end the process.
 */
function carefully(name: string, around: Around, logger: Logger): Around {
  const told = new Set<string>();
  const tell = (mistake: string, type: string) => {
    if (told.has(mistake)) return;
    told.add(mistake);
    logger.warn(`${name} ${mistake} (first for a job of ${type})`);
  };
  return async (attempt, next) => {
    let handled: ReturnType<typeof heard<unknown>> | null = null;
    let isOpen = true;
    const once = () => {
      handled ??= heard(next().finally(() => (isOpen = false)));
      return handled;
    };
    const said = await around(attempt, once);
    const answer = handled as ReturnType<typeof once> | null;
    if (answer === null) {
      tell("did not call next(), so the handler did not run", attempt.type);
      return said;
    }
    const isWaitedFor = answer.isHeard && !isOpen;
    if (!answer.isHeard) tell("did not await next(): return await next()", attempt.type);
    if (said !== undefined && answer.isHeard) return said;
    // A failure that it has caught is its own to judge; one that it did not wait for is the handler's.
    const result = isWaitedFor ? await answer.catch(() => undefined) : await answer;
    return said === undefined ? result : said;
  };
}
