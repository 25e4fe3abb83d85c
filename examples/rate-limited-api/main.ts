/**
 * Jobs that call a service with a rate limit and an outage: `node examples/rate-limited-api/main.ts`. One gate holds
 * them back, so that none dies and the service is not hammered.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Holdfast } from "../../packages/holdfast/src/index.ts";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";
import { startServer } from "./server.ts";

const JOBS = 120;

const server = await startServer({ downAfterMs: 2_000, downForMs: 2_000 });
const folder = await mkdtemp(join(tmpdir(), "holdfast-example-"));
const hf = new Holdfast({ store: sqliteStore({ file: join(folder, "jobs.db") }) });

hf.define({
  type: "contact.push",
  queue: "crm",
  retry: { maxAttempts: 5, baseMs: 300 },
  async run(job) {
    const response = await fetch(server.url, { method: "POST", signal: job.signal });
    // Status and headers are all that Holdfast needs to know what kind of failure it was.
    if (!response.ok) {
      const { status, headers } = response;
      throw Object.assign(new Error(`the service answered ${status}`), { status, headers });
    }
  },
});

await hf.gates.set("crm-api", {
  queue: "crm",
  // A little less than it allows: this program may not be its only caller.
  rate: { limit: 15, perMs: 1_000, burst: 3 },
  cooldown: true,
  breaker: { failures: 3, withinMs: 10_000, openMs: 500, probes: 1 },
});

const answers = await hf.enqueueAll(
  Array.from({ length: JOBS }, (_, id) => ({ type: "contact.push", payload: { id } })),
);
const worker = await hf.work();
let wasOpen = false;
const watching = setInterval(() => {
  void hf.gates.get("crm-api").then((gate) => (wasOpen ||= gate?.state !== "closed"));
}, 50);
for (const answer of answers) if (answer.status !== "refused") await hf.waitFor(answer);
clearInterval(watching);

const counts = (await hf.counts())["crm"];
const { tally } = server;
console.log(`succeeded: ${counts?.succeeded} of ${JOBS}, dead: ${counts?.dead}`);
console.log(`answered 429: ${tally.tooMany}, answered 503: ${tally.down}`);
console.log(`most calls in a second: ${tally.mostInASecond}`);
console.log(`the breaker opened: ${wasOpen}`);

await worker.stop();
await hf.close();
await server.close();
await rm(folder, { recursive: true, force: true });
