/**
 * Inside a line priority, then age; between the lines of a queue fair turns. A line that is open and
 * has work is served before the others together got two full rounds, and no call that has room left
 * may leave its work behind again and again.
 */
import type { LeaseRequest } from "../../../packages/holdfast/src/core/store.ts";
import type { LineFacts, QueueFacts } from "../facts/book.ts";
import { isCapped, isOpen } from "./gates.ts";
import type { Court, Watcher } from "../watcher.ts";

/** A call may return fewer than asked, but never none for ever. */
const MOST_LEFT_BEHIND = 20;

export function placeInLine({ book, complain }: Court): Watcher {
  return {
    leased({ id, queue, group }) {
      const job = book.jobs.get(id);
      const first = book.line(queue, group).ready.peek();
      if (!job || job.place !== "ready" || !first || first === job) return;
      const [a, b] = [place(first), place(job)];
      complain("priority, then age", `leased at ${b} although ${first.id} waits at ${a}`, id);
    },
  };
}

function place({ priority, seq }: { readonly priority: number; readonly seq: number }): string {
  return `priority ${priority}, number ${seq}`;
}

export function fairTurns({ book, complain }: Court): Watcher {
  const name = "lines take fair turns";
  /** Lines that were open and had work when the call began. */
  let waiting = new Set<LineFacts>();
  const served = new Map<string, number>();
  return {
    leaseAsked(request) {
      served.clear();
      waiting = new Set();
      for (const { queue: queueName, limit } of request.queues) {
        const queue = book.queues.get(queueName);
        if (!queue || limit <= 0) continue;
        for (const line of queue.lines.values()) {
          if (line.ready.size > 0 && isOpen(book, queue, line)) waiting.add(line);
          else line.passedOver = line.leftBehind = 0;
        }
      }
    },
    leased({ queue, group }) {
      served.set(queue, (served.get(queue) ?? 0) + 1);
      const line = book.line(queue, group);
      line.passedOver = line.leftBehind = 0;
      waiting.delete(line);
    },
    leaseAnswered(request, reply) {
      const room = request.limit - reply.jobs.length;
      for (const line of waiting) {
        const queue = book.queue(line.queue);
        // Full or closed by what this very call took: it has had its chance.
        if (!isOpen(book, queue, line) || !isWanted(request, queue, line)) continue;
        line.passedOver += served.get(line.queue) ?? 0;
        if (room > 0) line.leftBehind += 1;
        const oldest = line.ready.peek()?.id;
        const rounds = twoRounds(queue);
        if (line.passedOver > rounds) {
          const message = `line ${queue.name}/${line.group} was passed over by ${line.passedOver} jobs (two rounds are ${rounds})`;
          complain(name, message, oldest);
        } else if (line.leftBehind > MOST_LEFT_BEHIND) {
          const message = `${line.leftBehind} calls with room left line ${queue.name}/${line.group} behind`;
          complain(name, message, oldest);
        }
      }
    },
  };
}

/** Jobs of capped lines are only for slots that are free, not for the buffer. */
function isWanted(request: LeaseRequest, queue: QueueFacts, line: LineFacts): boolean {
  return !isCapped(queue, line) || (request.cappedLimit ?? request.limit) >= request.limit;
}

function twoRounds(queue: QueueFacts): number {
  let jobs = 0;
  for (const line of queue.lines.values()) jobs += line.weight;
  return 2 * jobs + 2;
}
