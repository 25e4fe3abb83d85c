/** Operations of one record never overtake each other, whichever process enqueues them, and whichever runs them. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as later } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Holdfast, type JobListing } from "holdfast";
import { makePlace, openPlace, PLACES } from "../failures/places.ts";
import { inTier, onlyInFull } from "../runner/tier.ts";
import type { OrderProcessOptions } from "./order-process.ts";
import { SyncProcesses } from "./sync-processes.ts";

const PROCESSES = inTier({ daily: 2, full: 3 });
const RECORDS = inTier({ daily: 3, full: 12 });
const EACH = inTier({ daily: 3, full: 12 });

interface Body {
  readonly from: string;
  readonly at: number;
}

/** Keeps each write in its order, and says where two of one record were there at the same time. */
async function target() {
  const writes = new Map<string, Body[]>();
  const inside = new Map<string, number>();
  const overlaps: string[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const record = request.url!.split("/").at(-1)!;
    inside.set(record, (inside.get(record) ?? 0) + 1);
    if (inside.get(record)! > 1) overlaps.push(record);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    // The work of the other side: whoever does not wait for it is seen.
    await later(3);
    const body = JSON.parse(Buffer.concat(parts).toString()) as Body;
    writes.set(record, [...(writes.get(record) ?? []), body]);
    inside.set(record, inside.get(record)! - 1);
    response.end();
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { ...{ writes, overlaps, server }, baseUrl: `http://127.0.0.1:${port}` };
}

describe("operations of one record", () => {
  it.for(PLACES)(
    "run one at a time in the order of their places, enqueued by processes at the same moment on %s",
    { timeout: 330_000 },
    async (name, test) => {
      if (name !== "sqlite") onlyInFull(test);
      const folder = await mkdtemp(join(tmpdir(), "holdfast-crm-"));
      const place = await makePlace(name, folder);
      const { writes, overlaps, server, baseUrl } = await target();
      const processes = new SyncProcesses<OrderProcessOptions>("order-process.ts");
      const quiet = () => {};
      const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
      const hf = new Holdfast({ store: await openPlace(place), logger });
      try {
        await hf.counts();
        for (let at = 0; at < PROCESSES; at += 1) {
          const own = { name: `process ${at}`, place: { name: place.name, url: place.url } };
          await processes.start({ ...own, baseUrl, records: RECORDS, each: EACH });
        }
        await processes.tellAll("go");
        const all = PROCESSES * RECORDS * EACH;
        const done = async () => (await hf.counts())["desk"]?.succeeded;
        await expect.poll(done, { timeout: 300_000, interval: 100 }).toBe(all);
        expect(overlaps).toEqual([]);
        const placed = await byRecord(hf);
        for (const [record, jobs] of placed) {
          const asked = jobs.map(({ payload }) => (payload as { body: Body }).body);
          expect(writes.get(record)).toEqual(asked);
          for (let at = 0; at < PROCESSES; at += 1) {
            const own = asked.filter(({ from }) => from === `process ${at}`);
            expect(own.map((one) => one.at)).toEqual(Array.from({ length: EACH }, (_, n) => n));
          }
        }
        expect(placed.size).toBe(RECORDS);
      } finally {
        await processes.killAll();
        await hf.close({ graceMs: 0 });
        server.close();
        await place.drop();
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      }
    },
  );
});

/** All jobs, in the order of the places that their enqueues took. */
async function byRecord(hf: Holdfast): Promise<Map<string, JobListing[]>> {
  const all = new Map<string, JobListing[]>();
  let cursor: string | null = null;
  do {
    const page: { jobs: readonly JobListing[]; nextCursor: string | null } = await hf.jobs({
      ...{ queue: "desk", status: "succeeded", limit: 200 },
      ...(cursor !== null && { cursor }),
    });
    for (const job of page.jobs) {
      const { id } = job.payload as { id: string };
      all.set(id, [...(all.get(id) ?? []), job]);
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  const placeOf = ({ meta }: JobListing) => (meta as { place: number }).place;
  for (const [id, jobs] of all) {
    all.set(
      id,
      jobs.toSorted((a, b) => placeOf(a) - placeOf(b)),
    );
  }
  return all;
}
