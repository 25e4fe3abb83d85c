/**
 * Handlers that do random things. Each run draws what it will do: a few actions, then an ending. In
 * calm weather they simply succeed, so that everything comes to an end; killers kill in any weather.
 */
import type { Handler } from "../../packages/holdfast/src/engine/registry.ts";
import { FRAGILE, type Kind } from "./contracts.ts";
import { Doing, type Action, type Ending, type HandlerHost, type Way } from "./doing.ts";
import type { Run } from "./watcher.ts";

const ACTIONS: Readonly<Record<Kind, Readonly<Partial<Record<Action, number>>>>> = {
  quick: { pause: 1 },
  mixed: { pause: 4, nap: 3, sleep: 1, progress: 2, log: 2, step: 1, spawn: 2 },
  once: { pause: 2, nap: 2, sleep: 1 },
  steps: { step: 5, pause: 2, nap: 1, spawn: 1 },
  saver: { save: 5, pause: 2, nap: 1, spawn: 1 },
  parent: { spawn: 4, pause: 1, nap: 2, sleep: 1 },
  timed: { nap: 3, pause: 1 },
  stubborn: { sleep: 2, marathon: 2, nap: 2, step: 1, spawn: 2 },
  patient: { marathon: 4, sleep: 1, step: 3, save: 2, pause: 2, spawn: 1 },
  transacting: { pause: 2, nap: 1, step: 1, save: 1, spawn: 1 },
  stranger: { pause: 1 },
  killer: { pause: 1 },
  locked: { pause: 3, nap: 2, sleep: 1 },
  called: { pause: 1 },
};

/** What a handler does with its own transaction once it has settled in it. */
const WAYS: Readonly<Record<Way, number>> = {
  commit: 4,
  commitLater: 2,
  rollBackAndGoOn: 3,
  rollBackAndThrow: 2,
  leaveOpen: 1,
};

const ENDINGS: Readonly<Record<Ending, number>> = {
  return: 14,
  throw: 3,
  permanent: 0.5,
  retryAfter: 1,
  snooze: 1,
  cancel: 0.5,
  network: 1,
};

export function handlerOf(kind: Kind, host: HandlerHost): Handler {
  return async (job) => {
    const { process, judge, draw, isCalm, note } = host;
    // The process died earlier in this very moment: nothing of it runs any more.
    if (!process.isAlive) return forever();
    const run: Run = { jobId: job.id, fence: job.fence, process: process.name };
    judge.tell((watcher) => watcher.handlerStarted?.(run, job.checkpoint));
    note(`${process.name} starts ${kind}, attempt ${job.attempt}`, job.id);
    const doing = new Doing(job, run, host, kind === "stubborn");
    if (kind === "killer") {
      if (draw.chance(0.7)) await doing.rest(draw.between(0, 200));
      process.kill(run);
      return forever();
    }
    const length = kind === "quick" || kind === "called" ? 1 : draw.whole(0, 6);
    for (let done = 0; done < length; done += 1) {
      await doing.act(isCalm() ? "pause" : draw.weighted(ACTIONS[kind]));
    }
    if (kind === "called" && job.queue === FRAGILE && host.isDown()) return doing.end("network");
    if (kind === "transacting" && !isCalm()) return doing.transact(draw.weighted(WAYS));
    return doing.end(isCalm() ? "return" : draw.weighted(ENDINGS));
  };
}

function forever(): Promise<never> {
  return new Promise(() => {});
}
