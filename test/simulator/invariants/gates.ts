/** Holds and caps are exact at every lease, whoever else calls. */
import type { Book, LineFacts, QueueFacts } from "../facts/book.ts";
import type { Court, Watcher } from "../watcher.ts";

export function isHeld(book: Book, holds: ReadonlyMap<string, number | null>): boolean {
  for (const until of holds.values()) {
    if (until === null || until > book.clock.now) return true;
  }
  return false;
}

export function capOf(queue: QueueFacts, line: LineFacts): number | null {
  return line.maxActive ?? queue.maxActivePerGroup;
}

export function isCapped(queue: QueueFacts, line: LineFacts): boolean {
  return queue.maxActive !== null || capOf(queue, line) !== null;
}

/** May a job of this line be leased now? */
export function isOpen(book: Book, queue: QueueFacts, line: LineFacts): boolean {
  const isQueueFull = queue.maxActive !== null && queue.active >= queue.maxActive;
  const cap = capOf(queue, line);
  const isLineFull = cap !== null && line.active >= cap;
  return !isQueueFull && !isLineFull && !isHeld(book, queue.holds) && !isHeld(book, line.holds);
}

export function gates({ book, complain }: Court): Watcher {
  let cappedTaken = 0;
  return {
    leaseAsked() {
      cappedTaken = 0;
    },
    leased(leased, { cappedLimit }) {
      const { id } = leased;
      const queue = book.queue(leased.queue);
      const line = book.line(leased.queue, leased.group);
      if (isHeld(book, queue.holds)) {
        complain("holds are respected", `leased although queue ${queue.name} is held`, id);
      } else if (isHeld(book, line.holds)) {
        complain("holds are respected", `leased although line ${line.group} is held`, id);
      }
      const cap = capOf(queue, line);
      if (queue.maxActive !== null && queue.active >= queue.maxActive) {
        const over = `${queue.active} of ${queue.maxActive} were leased already`;
        complain("caps are respected", `queue ${queue.name}: ${over}`, id);
      } else if (cap !== null && line.active >= cap) {
        const over = `${line.active} of ${cap} were leased already`;
        complain("caps are respected", `line ${queue.name}/${line.group}: ${over}`, id);
      }
      if (!isCapped(queue, line)) return;
      cappedTaken += 1;
      if (cappedLimit !== undefined && cappedTaken > cappedLimit) {
        complain("caps are respected", `more than ${cappedLimit} jobs of capped lines`, id);
      }
    },
  };
}
