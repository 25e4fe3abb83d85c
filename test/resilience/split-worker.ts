/** A worker whose jobs are in SQLite and whose ledger is elsewhere; its parent ends it. */
import { Holdfast, PermanentError } from "../../src/index.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { SERVERS } from "./outage-servers.ts";

const [file, kind, url] = process.argv.slice(2);
const ledger = SERVERS.find(({ name }) => name === kind)!.store(url!);
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const hf = new Holdfast({ store: sqliteStore({ file: file! }), ledger, logger: silent });
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
