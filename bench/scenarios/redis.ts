import type { Scenario } from "../scenario.ts";
import { capped, groups, held, waiting } from "./backlog.ts";
import { drain } from "./drain.ts";
import { bulk, enqueue } from "./enqueue.ts";
import { latency } from "./latency.ts";
import { failures } from "./failures.ts";
import { pages } from "./pages.ts";
import { processes } from "./processes.ts";
import { queues } from "./queues.ts";

const ALL = ["raw", "bullmq", "bee-queue", "holdfast"];
const AGAINST_BULLMQ = { names: ["bullmq"], target: { atLeast: 2.5 } };

export const REDIS_SCENARIOS: readonly Scenario[] = [
  enqueue(ALL, [{ names: ["raw"] }, AGAINST_BULLMQ, { names: ["bee-queue"] }]),
  bulk(ALL, [{ names: ["raw"] }, AGAINST_BULLMQ, { names: ["bee-queue"] }]),
  drain({
    name: "drain",
    title: "drain with a no-op handler, finished jobs kept",
    shares: { raw: 1, bullmq: 0.5, "bee-queue": 0.5, holdfast: 1 },
    against: [
      { names: ["raw"], target: { atLeast: 0.6 } },
      AGAINST_BULLMQ,
      { names: ["bee-queue"] },
    ],
    keep: true,
  }),
  latency({
    peers: ["bullmq", "bee-queue"],
    multiple: { of: "bullmq", target: { atMost: 1.1 } },
    backToBack: true,
  }),
  waiting,
  groups(0.7, { withCap: true }),
  capped,
  held,
  queues,
  pages,
  failures,
  processes(0.8),
];
