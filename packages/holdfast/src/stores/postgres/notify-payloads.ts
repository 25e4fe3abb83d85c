/**
 * Wakeups as NOTIFY carries them. NOTIFY is never part of a transaction that writes: all commits of a
 * database that notify take turns, and a queue that did so per job has stopped whole databases.
 */
import type { Wakeup } from "../../core/store.ts";
import { messageOf } from "../shared/wakeup-message.ts";

/** A payload of NOTIFY is at most 8000 bytes. */
const PAYLOAD_BYTES = 7_500;
/** Beyond so many messages at a time the rest is left to the poll. */
const MOST_MESSAGES = 8;

/**
 * As many messages as it takes, within reason. How many jobs were added is said only if one message says
 * everything: whoever hears of a part would take it for the number of that part.
 */
export function notifyPayloads(from: string, wakeup: Wakeup): string[] {
  const { queues, finished } = wakeup;
  const whole = messageOf(from, wakeup);
  if (Buffer.byteLength(whole) <= PAYLOAD_BYTES) return [whole];
  const payloads: string[] = [];
  const rest = [
    ...queues.map((queue) => ({ queue, id: null })),
    ...finished.map((id) => ({ queue: null, id })),
  ];
  while (rest.length > 0 && payloads.length < MOST_MESSAGES) {
    const message = { queues: [] as string[], finished: [] as string[] };
    let bytes = Buffer.byteLength(messageOf(from, message));
    for (let next = rest[0]; next !== undefined; next = rest[0]) {
      const added = Buffer.byteLength(JSON.stringify(next.queue ?? next.id)) + 1;
      const isEmpty = message.queues.length + message.finished.length === 0;
      if (bytes + added > PAYLOAD_BYTES && !isEmpty) break;
      rest.shift();
      // A name that fits into no message is found by polling.
      if (bytes + added > PAYLOAD_BYTES) continue;
      bytes += added;
      if (next.queue !== null) message.queues.push(next.queue);
      else message.finished.push(next.id);
    }
    payloads.push(messageOf(from, message));
  }
  return payloads;
}
