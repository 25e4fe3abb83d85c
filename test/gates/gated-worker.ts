/** One of the processes behind a gate: two workers, and it says when each job starts. */
import { connect } from "../../packages/holdfast/src/connect.ts";

const [url = "", queue = ""] = process.argv.slice(2);
const hf = await connect(url, { ledger: false });
hf.handle("work", (job) => {
  process.send?.({ at: Date.now(), group: job.group ?? "" });
});
process.once("disconnect", () => process.exit(1));
await hf.work({ queues: [queue], concurrency: 5 });
await hf.work({ queues: [queue], concurrency: 5 });
process.send?.("ready");
