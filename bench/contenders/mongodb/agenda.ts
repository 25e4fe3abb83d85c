/**
 * Agenda 6 through its public API, on its MongoDB backend. Its best sensible settings: as many slots
 * and locks as the others have, and a poll ten times a second instead of every five seconds. It has no
 * call for many jobs at once; so it is called for each, many calls beside each other.
 */
import { MongoClient } from "mongodb";
import { CONCURRENCY, type Contender, type Session } from "../../contender.ts";
import { JOB_TYPE, type Payload } from "../../payload.ts";
import { load, missingPackages, pieces } from "../peer-packages.ts";
import { describeMongodb } from "./facts.ts";

/** What is used of the packages, by shape: they are not there in a clone without peers. */
interface Agenda {
  readonly ready: Promise<void>;
  on(event: "error", listener: (error: Error) => void): void;
  define(
    type: string,
    handler: (job: { readonly attrs: { readonly data: unknown } }) => Promise<void>,
    options: object,
  ): void;
  now(type: string, data: unknown): Promise<unknown>;
  start(): Promise<void>;
  stop(closeConnection?: boolean): Promise<void>;
}

const POLL_MS = 100;
const CALLS_AT_ONCE = 100;

export const agenda: Contender = {
  name: "agenda",
  setup: `concurrency and locks ${CONCURRENCY}, poll ${POLL_MS} ms; keeps finished jobs`,
  doesNotEnd: true,
  missing: () => missingPackages("agenda", "@agendajs/mongo-backend"),
  async open(place) {
    const { Agenda } = (await load("agenda")) as { Agenda: new (options: object) => Agenda };
    const { MongoBackend } = (await load("@agendajs/mongo-backend")) as {
      MongoBackend: new (options: object) => object;
    };
    // Ours, because it closes one of its own only after it has worked.
    const client = new MongoClient(place, { writeConcern: { w: "majority", journal: true } });
    await client.connect();
    const slots = { maxConcurrency: CONCURRENCY, defaultConcurrency: CONCURRENCY };
    const locks = { lockLimit: CONCURRENCY, defaultLockLimit: CONCURRENCY };
    const backend = new MongoBackend({ mongo: client.db() });
    const system = new Agenda({ backend, processEvery: POLL_MS, ...slots, ...locks });
    let isClosed = false;
    system.on("error", (error) => {
      // A poll may be on its way when it is stopped, and finds the client closed.
      if (!isClosed) throw error;
    });
    await system.ready;
    let handle: (payload: Payload) => void = () => {};
    system.define(JOB_TYPE, async ({ attrs }) => handle(attrs.data as Payload), {
      concurrency: CONCURRENCY,
      lockLimit: CONCURRENCY,
    });
    const session: Session = {
      async enqueue(payload) {
        await system.now(JOB_TYPE, payload);
      },
      async enqueueAll(payloads) {
        for (const piece of pieces(payloads, CALLS_AT_ONCE)) {
          await Promise.all(piece.map((payload) => system.now(JOB_TYPE, payload)));
        }
      },
      async run(handler) {
        handle = handler;
        await system.start();
        return () => system.stop(false);
      },
      describe: () => describeMongodb(place),
      close() {
        isClosed = true;
        return client.close();
      },
    };
    return session;
  },
};
