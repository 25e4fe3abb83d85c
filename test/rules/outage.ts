/** A switch between a process and a store: while it is off, no call gets through, or no reply back. */
import { StoreUnavailableError } from "../../packages/holdfast/src/index.ts";

export type OutageMode =
  | "none"
  /** Nothing arrives: surely not done. */
  | "away"
  /** It is done, and the reply is lost. */
  | "deaf"
  /** It is done, and nobody ever hears of it. */
  | "silent";

export interface Outage {
  mode: OutageMode;
  /** How many calls met it. */
  readonly met: number;
  link<Some extends object>(store: Some): Some;
}

const PASSING = new Set(["info", "onWakeup", "close"]);

export function outage(): Outage {
  const state = { mode: "none" as OutageMode, met: 0 };
  function link<Some extends object>(store: Some): Some {
    return new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member === "object" && member !== null) return link(member);
        if (typeof member !== "function" || PASSING.has(String(name))) return member;
        return async (...args: unknown[]) => {
          const { mode } = state;
          if (mode !== "none") state.met += 1;
          if (mode === "away") throw gone(false);
          const reply: unknown = await Reflect.apply(member, target, args);
          if (mode === "deaf") throw gone(true);
          return mode === "silent" ? new Promise(() => {}) : reply;
        };
      },
    });
  }
  return Object.assign(state, { link });
}

function gone(mayHaveHappened: boolean): StoreUnavailableError {
  return new StoreUnavailableError("nobody answers", { mayHaveHappened });
}
