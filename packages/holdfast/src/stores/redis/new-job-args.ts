/**
 * New jobs as arguments of a script (lua/insert-one.lua). Most jobs of a call differ in id and payload
 * only: what they share is sent once, as a shape, and each names its shape by number. Every argument
 * costs both the driver and the server about as much as a small command.
 */
import type { NewJob } from "../../core/job.ts";
import { flag, keyArgs, orEmpty } from "./args.ts";
import { bodyOf } from "./body.ts";
import type { Arg } from "./client-like.ts";
import { tagText } from "./header.ts";
import { Runs } from "./runs.ts";

/** `queues` are those of the script's keys, in their order. */
export function newJobArgs(jobs: readonly NewJob[], queues: readonly string[]): Arg[] {
  const shapes = new Map<string, number>();
  const shapeArgs: Arg[] = [];
  const runs = new Runs();
  let last: NewJob | null = null;
  let number = 0;
  for (const job of jobs) {
    if (last === null || !isAlike(last, job)) number = shapeNumber(job);
    last = job;
    runs.add(number, job.id);
    runs.args.push(bodyOf(job));
    if (job.dedupe !== null) runs.args.push(...keyArgs(job.dedupe));
  }
  return [shapes.size, ...shapeArgs, runs.count, ...runs.args];

  function shapeNumber(job: NewJob): number {
    const args = argsOfShape(job, queues.indexOf(job.queue) + 1);
    const name = JSON.stringify(args);
    const known = shapes.get(name);
    if (known !== undefined) return known;
    shapes.set(name, shapes.size + 1);
    shapeArgs.push(...args);
    return shapes.size;
  }
}

function argsOfShape(job: NewJob, queue: number): Arg[] {
  const { group, type, priority, maxAttempts, tags, runAt, delayMs, dedupe } = job;
  return [
    ...[queue, group, type, priority, maxAttempts, tagText(tags)],
    ...[orEmpty(runAt), delayMs, flag(dedupe !== null)],
  ];
}

/** Of neighbours, which are nearly always alike: to be sure of it without putting a shape together. */
function isAlike(one: NewJob, other: NewJob): boolean {
  return (
    one.queue === other.queue &&
    one.group === other.group &&
    one.type === other.type &&
    one.priority === other.priority &&
    one.maxAttempts === other.maxAttempts &&
    one.runAt === other.runAt &&
    one.delayMs === other.delayMs &&
    one.tags.length === 0 &&
    other.tags.length === 0 &&
    (one.dedupe === null) === (other.dedupe === null)
  );
}
