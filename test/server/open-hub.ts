/** A hub of events on a store in memory, whose time a test sets. */
import { Holdfast, type Logger } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { EventHub, type Listener } from "../../packages/server/src/events/event-hub.ts";
import { OverviewReader } from "../../packages/server/src/overview.ts";
import { parsedEvents } from "./listen-events.ts";

export function openHub() {
  const time = { now: 0 };
  const hf = new Holdfast({ store: memoryStore() }) as Holdfast;
  const logger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
  const own = new EventHub({
    ...{ hf, logger, overview: new OverviewReader(hf, Date.now) },
    ended: async () => [],
    steady: () => time.now,
  });
  const listen = (more: Partial<Listener> = {}, goodForMs: number | null = null) => {
    const about = { by: "ada", key: "ada", role: "viewer", queues: null, tokenId: null } as const;
    const caller = { ...about, via: "function", goodForMs } as const;
    return parsedEvents(own.listen({ caller, session: null, jobs: null, lastId: null, ...more }));
  };
  const close = async () => {
    own.close();
    await hf.close();
  };
  return { own, time, listen, close };
}
