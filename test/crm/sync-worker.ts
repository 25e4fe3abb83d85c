/** A process that works on a sync of HubSpot. */
import { hubspotSync, type HubSpotSyncOptions } from "@holdfast/crm";
import { Holdfast, type WorkOptions } from "holdfast";
import { openPlace, type PlaceAddress } from "../failures/places.ts";

export interface SyncWorkerOptions {
  readonly place: PlaceAddress;
  readonly sync: HubSpotSyncOptions;
  readonly work: WorkOptions;
}

const { place, sync, work } = JSON.parse(process.argv[2]!) as SyncWorkerOptions;
// The test is gone: it would never end this process.
process.stdin.on("end", () => process.exit(3)).resume();
const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const hf = new Holdfast({ store: await openPlace(place), logger });
await hubspotSync(sync).attach(hf).work(work);
process.stdout.write("up\n");
