/** A process that runs simulations against a HubSpot, or its double. It may be killed at any time. */
import { HubSpotClient } from "@holdfast/crm";
import { Pacing } from "@holdfast/pacing";
import { Holdfast } from "holdfast";
import { openPaced, type PacedPlace } from "./paced-places.ts";

export interface PacedWorker {
  readonly place: PacedPlace;
  readonly baseUrl: string;
  readonly token: string;
  readonly shards: number;
}

const { place, baseUrl, token, shards } = JSON.parse(process.argv[2]!) as PacedWorker;
// The test is gone: this process has no reason to live.
process.once("disconnect", () => process.exit(3));
const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const hf = new Holdfast({ store: await openPaced(place), logger }) as Holdfast;
const retry = { retries: 0 } as const;
const client = new HubSpotClient({ baseUrl, token, timeZone: "UTC", retry });
const upsert = async (email: string, signal: AbortSignal) => {
  const properties = { email };
  const made = await client.upsertOne(
    "contacts",
    { idProperty: "email", id: email, properties },
    { signal },
  );
  return { id: made.id };
};
const pacing = new Pacing(hf, {
  ...{ shards, watchMs: 1_000, retry: { maxAttempts: 50, baseMs: 200, maxMs: 1_000 } },
  create: ({ externalKey, signal }) => upsert(`${externalKey}@records.test`, signal),
  act: ({ externalKey, type, signal }) => upsert(`${externalKey}@${type}s.test`, signal),
});
await pacing.work({ concurrency: 10, leaseMs: 2_000 });
process.send?.("up");
