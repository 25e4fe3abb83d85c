import type { Scenario } from "../scenario.ts";
import { beside, capped, groups, held, waiting } from "./backlog.ts";
import { drain } from "./drain.ts";
import { bulk, enqueue } from "./enqueue.ts";
import { idle } from "./idle.ts";
import { latency } from "./latency.ts";
import { failures } from "./failures.ts";
import { pages } from "./pages.ts";
import { pinned } from "./pinned.ts";
import { processes } from "./processes.ts";
import { queues } from "./queues.ts";

const BY_DEFAULT = ["graphile-worker", "pg-boss"];
const TUNED = ["graphile-worker tuned", "pg-boss batches"];
/** Tuning changes how they work, and nothing about how jobs get in. */
const PRODUCERS = ["raw", ...BY_DEFAULT, "bullmq", "holdfast"];

export const POSTGRES_SCENARIOS: readonly Scenario[] = [
  enqueue(PRODUCERS, [
    { names: ["raw"] },
    { names: BY_DEFAULT, as: "the better of these two", target: { atLeast: 8 } },
    { names: ["bullmq"] },
  ]),
  bulk(PRODUCERS, [{ names: ["raw"] }, { names: BY_DEFAULT, as: "the better of these two" }]),
  drain({
    name: "drain",
    title: "drain with a no-op handler (kept: all but graphile-worker, which deletes)",
    shares: {
      raw: 1,
      "graphile-worker": 0.1,
      "graphile-worker tuned": 1,
      // A job a poll and slot, and a poll every two seconds.
      "pg-boss": 0.005,
      "pg-boss batches": 0.5,
      bullmq: 0.05,
      holdfast: 1,
    },
    against: [
      { names: ["raw"], target: { atLeast: 0.6 } },
      { names: BY_DEFAULT, as: "the better default", target: { atLeast: 8 } },
      { names: TUNED, as: "the best tuned", target: { atLeast: 1 } },
      { names: ["bullmq"] },
    ],
    keep: true,
  }),
  latency({
    peers: ["graphile-worker"],
    multiple: { of: "graphile-worker", target: { atMost: 1 } },
  }),
  waiting,
  groups(0.7),
  capped,
  held,
  queues,
  pages,
  failures,
  processes(0.8),
  beside,
  pinned,
  idle,
];
