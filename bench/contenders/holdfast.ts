/** Holdfast through its front door, from `dist`, as an application would use it. The same on every store. */
import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type * as frontDoor from "../../packages/holdfast/src/index.ts";
import { CONCURRENCY, type Contender, type Session } from "../contender.ts";
import { JOB_TYPE, type Payload } from "../payload.ts";

/** `HOLDFAST_BENCH_DIST` names another build: to measure two versions against each other. */
const OTHER = process.env["HOLDFAST_BENCH_DIST"];
const DIST =
  OTHER === undefined
    ? new URL("../../packages/holdfast/dist/", import.meta.url)
    : pathToFileURL(`${OTHER}/`);
/** Builds from before the option was called `group`. */
const OPTIONS = new URL("core/enqueue-options.js", DIST);
const isOlder = existsSync(OPTIONS) && readFileSync(OPTIONS, "utf8").includes("groupKey");
/** Where its jobs are. */
export const QUEUE = "bench";

export type AnyStore = frontDoor.Store;
/** Makes the store from the module that exports it. */
type MakeStore<Door> = (door: Door, place: string, clock?: () => number) => AnyStore;

export function holdfastOn<Door>(store: string, makeStore: MakeStore<Door>): Contender {
  const storeFile = new URL(`stores/${store}/index.js`, DIST);
  return {
    name: "holdfast",
    setup: `one worker, concurrency ${CONCURRENCY}, everything else by default; keeps finished jobs`,
    missing: () => (existsSync(storeFile) ? null : "not built; `npm run build` does it"),
    async open(place, { keep, wrap, concurrency, without = [], failsOnce = false, clock }) {
      const { Holdfast } = (await import(new URL("index.js", DIST).href)) as typeof frontDoor;
      const door = (await import(storeFile.href)) as Door;
      const own = makeStore(door, place, clock);
      const hf = new Holdfast({
        store: wrap ? wrap(own) : own,
        ...(keep ? {} : { retention: { succeeded: { maxAgeMs: 0 } } }),
        // Unsaid where it is the default: builds from before do not know the word.
        ...(without.includes("ledger") ? { ledger: false as const } : {}),
        ...(without.includes("stats") ? { stats: false } : {}),
      });
      const session = sessionOf(hf, { concurrency: concurrency ?? CONCURRENCY, failsOnce });
      return { ...session, store: own, hf };
    },
  };
}

function sessionOf(
  hf: frontDoor.Holdfast,
  { concurrency, failsOnce }: { readonly concurrency: number; readonly failsOnce: boolean },
): Omit<Session, "store"> {
  let handle: (payload: Payload) => void = () => {};
  const job = hf.define({
    type: JOB_TYPE,
    queue: QUEUE,
    ...(failsOnce ? { retry: { baseMs: 0, jitter: 0 } } : {}),
    run({ payload, attempt }: { readonly payload: unknown; readonly attempt: number }) {
      if (failsOnce && attempt === 1) throw new Error("the other side does not answer");
      handle(payload as Payload);
    },
  });
  return {
    async enqueue(payload) {
      await job.enqueue(payload);
    },
    async enqueueAll(payloads, { groupOf, delayMs } = {}) {
      const answers = await hf.enqueueAll(
        payloads.map((payload, index) =>
          job.of(payload, {
            ...(groupOf ? { [isOlder ? "groupKey" : "group"]: groupOf(index) } : {}),
            ...(delayMs === undefined ? {} : { delayMs }),
          }),
        ),
      );
      const refused = answers.find((answer) => answer.status !== "added");
      if (refused) throw new Error(`a job was not added but ${refused.status}`);
    },
    async run(handler) {
      handle = handler;
      const worker = await hf.work({ queues: [QUEUE], concurrency });
      return () => worker.stop();
    },
    async limitGroups(maxActive) {
      await hf.limit(QUEUE, { maxActivePerGroup: maxActive });
    },
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
}
