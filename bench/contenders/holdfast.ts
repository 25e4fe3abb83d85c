/** Holdfast through its front door, from `dist`, as an application would use it. */
import { existsSync } from "node:fs";
import type * as frontDoor from "../../src/index.ts";
import type * as sqliteDoor from "../../src/stores/sqlite/index.ts";
import { CONCURRENCY, type Contender, type Session } from "../contender.ts";
import { JOB_TYPE, type Payload } from "../payload.ts";

const DIST = new URL("../../dist/", import.meta.url);
const QUEUE = "bench";

export const holdfastSqlite: Contender = {
  name: "holdfast",
  setup: `one worker, concurrency ${CONCURRENCY}, everything else by default`,
  missing: () =>
    existsSync(new URL("index.js", DIST)) ? null : "not built; `npm run build` does it",
  async open(place, { keep }) {
    const { Holdfast } = (await import(new URL("index.js", DIST).href)) as typeof frontDoor;
    const { sqliteStore } = (await import(
      new URL("stores/sqlite/index.js", DIST).href
    )) as typeof sqliteDoor;
    const hf = new Holdfast({
      store: sqliteStore({ file: place }),
      ...(keep ? {} : { retention: { succeeded: { maxAgeMs: 0 } } }),
    });
    let handle: (payload: Payload) => void = () => {};
    const job = hf.define({
      type: JOB_TYPE,
      queue: QUEUE,
      run: ({ payload }: { readonly payload: unknown }) => handle(payload as Payload),
    });
    const session: Session = {
      async enqueue(payload) {
        await job.enqueue(payload);
      },
      async enqueueAll(payloads, groupOf) {
        const answers = await hf.enqueueAll(
          payloads.map((payload, index) =>
            groupOf ? job.of(payload, { groupKey: groupOf(index) }) : job.of(payload),
          ),
        );
        const refused = answers.find((answer) => answer.status !== "added");
        if (refused) throw new Error(`a job was not added but ${refused.status}`);
      },
      async run(handler) {
        handle = handler;
        const worker = await hf.work({ queues: [QUEUE], concurrency: CONCURRENCY });
        return () => worker.stop();
      },
      hold: (group) => hf.pause({ queue: QUEUE, group }, { reason: "benchmark" }),
      async describe() {
        const { version, survives } = await hf.info();
        const survived = [
          ...(survives.processKill ? ["process kill"] : []),
          ...(survives.powerLoss ? ["power loss"] : []),
        ];
        return `${version}, an acknowledgement survives ${survived.join(" and ") || "nothing"}`;
      },
      close: () => hf.close(),
    };
    return session;
  },
};
