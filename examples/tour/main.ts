/**
 * A tour of Holdfast: a few hundred jobs of mixed kinds on one SQLite file, one worker, live in the
 * terminal. Run it with `npm start -- --tour`, as often as you like, and stop it in the middle if you want to.
 */
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "holdfast/connect";
import { QUEUES, TENANTS, tourJobs } from "./jobs.ts";
import { type Look, Screen } from "./screen.ts";
import { Tally } from "./tally.ts";

let stopping = false;
process.on("SIGINT", () => {
  if (stopping) process.exit(130); // the second time it is meant
  stopping = true;
});

const url = process.env.HOLDFAST_URL ?? "sqlite:holdfast.db";
// Dozens of attempts fail here on purpose: no alarm for them.
const hf = await connect(url, { alerts: { spike: null, dead: false } });
const { items } = tourJobs(hf);
const tally = new Tally(hf, TENANTS);

const before = await hf.counts();
const left = QUEUES.reduce((sum, queue) => sum + unfinished(look(before, queue)), 0);
if (left > 0)
  console.log(`${left} jobs are left from an earlier run: they are finished along the way.`);

const jobs = items(Date.now().toString(36));
tally.enqueued(jobs, await hf.enqueueAll(jobs));
console.log(`${jobs.length} times enqueued on ${url}; all of it is stored. A worker starts.\n`);

const worker = await hf.work({ queues: QUEUES, concurrency: 20 });
const screen = new Screen();
const reports = { status: "processing", type: "report.slow", limit: 4 } as const;
for (;;) {
  const now = await hf.counts();
  const queues = new Map(QUEUES.map((queue) => [queue, look(now, queue)]));
  const running = process.stdout.isTTY ? (await hf.jobs(reports)).jobs : [];
  const progress = running.map(({ progress }) => `${progress?.percent ?? 0} %`).join("  ");
  screen.show(queues, [`  reports at    ${progress}`, `  last failure  ${tally.lastWord}`]);
  if (stopping || [...queues.values()].every((one) => unfinished(one) === 0)) break;
  await pause(100);
}
await worker.stop({ graceMs: 2_000 });

const after = await hf.counts();
const waiting = QUEUES.reduce((sum, queue) => sum + unfinished(look(after, queue)), 0);
console.log(`\n${tally.table()}\n`);
console.log("mail.receipt was never enqueued: each order.checkout spawned one with its success.");
for (const { group, othersDone } of tally.turns) {
  console.log(`${group} was done when ${othersDone} jobs of the other tenants were.`);
}
if (waiting > 0) {
  console.log(`\nStopped. ${waiting} jobs wait in ${url}; npm start -- --tour goes on with them.`);
}
console.log(`
What to try next
  npm start -- --tour          again: the file is still there, and so is what was done
  Ctrl-C in the middle         running jobs are handed back, no attempt is spent
  kill -9 in the middle        the next start takes over once the leases ran out, about 12 s
  npm start                    an application with a dashboard, to look at and to steer
  examples/tour/jobs.ts        what each kind of job does
  docs/guides/getting-started.md`);
await hf.close();

function look(counts: typeof before, queue: string): Look {
  const { ready = 0, delayed = 0, processing = 0, succeeded = 0, dead = 0 } = counts[queue] ?? {};
  const finished = succeeded + dead;
  const earlier = before[queue] ? before[queue].succeeded + before[queue].dead : 0;
  return { ready, delayed, processing, done: finished - earlier };
}

function unfinished({ ready, delayed, processing }: Look): number {
  return ready + delayed + processing;
}
