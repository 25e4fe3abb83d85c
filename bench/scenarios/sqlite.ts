import { capped, groups, held, waiting } from "./backlog.ts";
import { drain } from "./drain.ts";
import { bulk, enqueue } from "./enqueue.ts";
import { latency, latencyAcross } from "./latency.ts";
import { memory } from "./memory.ts";
import { failures } from "./failures.ts";
import { pages } from "./pages.ts";
import { processes } from "./processes.ts";
import { queues } from "./queues.ts";
import type { Scenario } from "../scenario.ts";

const ALL = ["raw", "plainjob", "holdfast"];
// plainjob commits every job twice: a tenth of the jobs gives as long a stretch.
const SHARES = { raw: 1, plainjob: 0.1, holdfast: 1 };

export const SQLITE_SCENARIOS: readonly Scenario[] = [
  enqueue(ALL, [{ names: ["raw"], target: { atLeast: 0.5 } }, { names: ["plainjob"] }]),
  bulk(ALL, [{ names: ["raw"] }, { names: ["plainjob"] }]),
  drain({
    name: "drain-kept",
    title: "drain with a no-op handler, finished jobs kept",
    shares: SHARES,
    against: [
      { names: ["raw"], target: { atLeast: 0.6 } },
      { names: ["plainjob"], target: { atLeast: 4 } },
    ],
    keep: true,
  }),
  drain({
    name: "drain-deleted",
    title: "drain with a no-op handler, finished jobs deleted (Holdfast remembers id and fence)",
    shares: SHARES,
    // No target against the raw loop: it forgets what it deletes, and so does less.
    against: [{ names: ["raw"] }, { names: ["plainjob"], target: { atLeast: 4 } }],
    keep: false,
  }),
  latency({ peers: ["plainjob"], target: { below: 1 } }),
  latencyAcross({ peers: ["plainjob"], target: { below: 25 } }),
  waiting,
  groups(0.7),
  capped,
  held,
  queues,
  pages,
  failures,
  // One writer at a time: processes take turns, and turns cost.
  processes(0.6),
  memory,
];
