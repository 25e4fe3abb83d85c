/** A worker whose jobs are in one store and whose ledger is in another; its parent ends it. */
import { Holdfast, PermanentError } from "../../packages/holdfast/src/index.ts";
import { serverOf } from "./outage-servers.ts";

const [jobsKind, jobsUrl, ledgerUrl] = process.argv.slice(2);
const store = serverOf(jobsKind!).store(jobsUrl!);
const ledger = serverOf("PostgreSQL").store(ledgerUrl!);
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const hf = new Holdfast({ store, ledger, logger: silent });
let ran = 0;
hf.define({
  type: "work",
  async run() {
    process.send?.((ran += 1));
    // Real work takes a moment: some of it must be under way when this process dies.
    await new Promise((resolve) => setTimeout(resolve, 5));
    throw new PermanentError("no");
  },
});
process.on("message", () => void hf.close().then(() => process.disconnect?.()));
await hf.work({ concurrency: 5, leaseMs: 1_000 });
process.send?.("up");
