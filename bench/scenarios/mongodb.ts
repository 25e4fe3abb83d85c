import type { Scenario } from "../scenario.ts";
import { capped, groups, held, waiting } from "./backlog.ts";
import { drain } from "./drain.ts";
import { bulk, enqueue } from "./enqueue.ts";
import { latency } from "./latency.ts";
import { failures } from "./failures.ts";
import { pages } from "./pages.ts";
import { processes } from "./processes.ts";
import { queues } from "./queues.ts";

const ALL = ["raw", "agenda", "holdfast"];

export const MONGODB_SCENARIOS: readonly Scenario[] = [
  // Of Agenda not even raw takes ten times as many: that line is missed, and why is told (ADR 0019).
  enqueue(ALL, [
    { names: ["raw"], target: { atLeast: 0.75 } },
    { names: ["agenda"], target: { atLeast: 10 } },
  ]),
  bulk(ALL, [{ names: ["raw"] }, { names: ["agenda"] }]),
  drain({
    name: "drain",
    title: "drain with a no-op handler, finished jobs kept",
    // About 150 jobs a second.
    shares: { raw: 1, agenda: 0.01, holdfast: 1 },
    against: [
      { names: ["raw"], target: { atLeast: 1.5 } },
      { names: ["agenda"], target: { atLeast: 40 } },
    ],
    keep: true,
  }),
  latency({ peers: [] }),
  processes(0.8),
  waiting,
  groups(0.4),
  capped,
  held,
  queues,
  pages,
  failures,
];
