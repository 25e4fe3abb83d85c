/** A process of an application: it works on a sync of a REST target and, told so, enqueues for every record. */
import { createInterface } from "node:readline";
import { restSync } from "@holdfast/crm";
import { Holdfast } from "holdfast";
import { openPlace, type PlaceAddress } from "../failures/places.ts";

export interface OrderProcessOptions {
  readonly name: string;
  readonly place: PlaceAddress;
  readonly baseUrl: string;
  readonly records: number;
  readonly each: number;
}

const { name, place, baseUrl, records, each } = JSON.parse(process.argv[2]!) as OrderProcessOptions;
const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const hf = new Holdfast({ store: await openPlace(place), logger });
const limits = { calls: { limit: 5_000, perMs: 1_000, burst: 1_000 }, breaker: null };
const desk = restSync({ name: "desk", baseUrl, limits }).attach(hf);
await desk.work({ concurrency: 8 });
const lines = createInterface({ input: process.stdin });
// The test is gone: it would never end this process.
lines.on("close", () => process.exit(3));
lines.on("line", () => void enqueue());
process.stdout.write("up\n");

/** The later, the more urgent: priority alone would turn them round. */
async function enqueue(): Promise<void> {
  for (let at = 0; at < each; at += 1) {
    const all = Array.from({ length: records }, (_, record) =>
      desk.enqueue(
        "save",
        { resource: "people", id: `p${record}`, body: { from: name, at } },
        { priority: 10 - (at % 10) },
      ),
    );
    await Promise.all(all);
  }
  process.stdout.write("done\n");
}
