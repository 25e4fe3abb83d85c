/** One contract, two sides: the one that runs. */
import { Holdfast, type Store } from "holdfast";
import { sendEmail } from "./contract-jobs.ts";

export async function startWorker(store: Store) {
  const hf = new Holdfast({ store });
  hf.handle(sendEmail, async (job) => ({ messageId: `to ${job.payload.to}` }));
  return hf.work({ queues: ["mail"] });
}
