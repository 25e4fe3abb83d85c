/** Planted bugs around schedules. */
import { uuidV7 } from "../../../packages/holdfast/src/core/uuid.ts";
import { tickOf } from "../invariants/ticks.ts";
import { inEngine, type PlantedBug } from "./planted-bug.ts";

const SKEW_MS = 60_000;

export const tickBugs: readonly PlantedBug[] = [
  inEngine(
    "tick-by-local-clock",
    "what is due is judged by the host's own clock",
    (store, now) => ({
      async now() {
        await store.now();
        return now() + SKEW_MS;
      },
    }),
  ),

  inEngine("tick-with-any-id", "the job of a tick gets another id at every try", (store, now) => {
    let made = 0;
    const anyId = () => {
      const bytes = new Uint8Array(10);
      new DataView(bytes.buffer).setUint32(4, (made += 1));
      return uuidV7(now(), bytes);
    };
    return {
      insert: (jobs, how) =>
        store.insert(
          jobs.map((job) => (tickOf(job.meta) === null ? job : { ...job, id: anyId() })),
          how,
        ),
    };
  }),
];
