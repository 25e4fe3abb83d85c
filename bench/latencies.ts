/**
 * How long an idle system takes from the call of enqueue to the start of the handler, one job at a time:
 * after a random pause before each, so that nobody gains by polling in step, or back to back, each as soon
 * as the one before has started.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Session } from "./contender.ts";
import { type Payload, payloadOf, sharedNow } from "./payload.ts";

export interface Course {
  /** Run through first, some at a time: an idle system has been up for long, and its code is compiled. */
  readonly warmJobs: number;
  readonly samples: number;
  readonly pauses: "random" | "none";
  /** Enqueues the job of this number elsewhere. Default: in this process. */
  readonly enqueue?: ((order: number) => void) | undefined;
}

const WARM_TOGETHER = 50;
/** One at a time they take another way than some together: that must be compiled, too. */
const WARM_ALONE_MS = 1_000;
const WARM_SAMPLES = 20;

/** In milliseconds, one for each sample. */
export async function latenciesOf(session: Session, course: Course): Promise<number[]> {
  const { warmJobs, samples, pauses, enqueue } = course;
  let arrived: (payload: Payload, at: number) => void = () => {};
  const stop = await session.run((payload) => arrived(payload, sharedNow()));
  await warmUp(session, { jobs: warmJobs, onArrival: (then) => (arrived = then) });
  const latencyOf = async (order: number): Promise<number> => {
    const took = new Promise<number>((resolve) => {
      arrived = (payload, at) => payload.order === order && resolve(at - payload.at);
    });
    if (enqueue) enqueue(order);
    else await session.enqueue(payloadOf(order, sharedNow()));
    return took;
  };
  let order = 0;
  for (const hotAt = performance.now() + WARM_ALONE_MS; performance.now() < hotAt; order++) {
    await latencyOf(order);
  }
  const tookMs: number[] = [];
  for (const last = order + WARM_SAMPLES + samples; order < last; order++) {
    if (pauses === "random") await pause(2 + Math.random() * 16);
    tookMs.push(await latencyOf(order));
  }
  await stop();
  return tookMs.slice(WARM_SAMPLES);
}

async function warmUp(
  session: Session,
  { jobs, onArrival }: { readonly jobs: number; onArrival(then: () => void): void },
): Promise<void> {
  for (let done = 0; done < jobs; done += WARM_TOGETHER) {
    let left = WARM_TOGETHER;
    const ran = new Promise<void>((resolve) => onArrival(() => --left === 0 && resolve()));
    const orders = Array.from({ length: WARM_TOGETHER }, () => -1);
    await Promise.all(orders.map((order) => session.enqueue(payloadOf(order, sharedNow()))));
    await ran;
  }
}
