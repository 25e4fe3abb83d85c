/** Execution locks between real processes: one of fifty runs, and a holder that is killed is followed by the next. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Holdfast, isSkipped } from "../../packages/holdfast/src/index.ts";
import { inTier } from "../runner/tier.ts";
import { QUEUE, SNAPSHOT } from "./lock-worker.ts";
import { makePlace, openPlace, PLACES, type PlaceName } from "./places.ts";
import { Processes } from "./processes.ts";

const STORES = inTier<readonly PlaceName[]>({ daily: ["sqlite"], full: PLACES });
const LONG = { timeout: 120_000 };
const CALLERS = 50;

describe.each(STORES)("a lock between processes on %s", (name) => {
  const processes = new Processes("lock-worker.ts");
  let folder: string;
  let place: Awaited<ReturnType<typeof makePlace>>;
  let hf: Holdfast;
  let files: { readonly notes: string; readonly goOn: string };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-locks-"));
    files = { notes: join(folder, "notes"), goOn: join(folder, "go-on") };
    place = await makePlace(name, folder);
    hf = new Holdfast({ store: await openPlace(place) });
  });
  afterEach(async () => {
    await processes.killAll();
    await hf.close();
    await place.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const startWorker = () => processes.start({ place: { name, url: place.url }, ...files });
  const enqueue = () => hf.enqueue(SNAPSHOT, { month: "2026-10" });
  /** What handlers noted, in order. */
  async function notes(): Promise<{ pid: number; what: string; id: string }[]> {
    const text = await readFile(files.notes, "utf8").catch(() => "");
    const lines = text.split("\n").filter((line) => line !== "");
    return lines.map((line) => {
      const [pid, what, id] = line.split(" ");
      return { pid: Number(pid), what: what!, id: id! };
    });
  }
  async function until<T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
    for (;;) {
      const value = await read();
      if (isSo(value)) return value;
      await pause(20);
    }
  }

  it(
    "of fifty callers of one scope at once one runs, and the others are skipped",
    LONG,
    async () => {
      await Promise.all([startWorker(), startWorker()]);
      const receipts = await Promise.all(Array.from({ length: CALLERS }, enqueue));
      await until(
        async () => (await hf.counts())[QUEUE]?.succeeded,
        (count) => count === CALLERS - 1,
      );
      expect((await notes()).map(({ what }) => what)).toEqual(["start"]);
      await writeFile(files.goOn, "");
      const ends = await Promise.all(receipts.map((receipt) => hf.waitFor(receipt)));
      const results = ends.map((end) => (end.status === "succeeded" ? end.result : end.status));
      expect(results.filter((result) => isSkipped(result))).toHaveLength(CALLERS - 1);
      expect((await notes()).map(({ what }) => what)).toEqual(["start", "end"]);
      const later = await hf.waitFor(await enqueue());
      expect(later).toMatchObject({ result: { skipped: "already_completed" } });
    },
  );

  it(
    "a holder that is killed is followed by the next one once its lease is over",
    LONG,
    async () => {
      const holder = await startWorker();
      const first = await enqueue();
      await until(notes, (found) => found.length === 1);
      await startWorker();
      // While it lives it holds its lock: another worker skips.
      const second = await hf.waitFor(await enqueue());
      expect(second).toMatchObject({ result: { skipped: "already_running" } });

      await processes.kill(holder);
      // Each is skipped, or notes that it runs.
      const isNoted = async (id: string) => (await notes()).some((note) => note.id === id);
      const isDecided = async ({ id }: { readonly id: string }) =>
        (await isNoted(id)) || (await hf.job(id))?.status === "succeeded";
      const next = await until(
        async () => {
          const receipt = await enqueue();
          await until(
            () => isDecided(receipt),
            (isSo) => isSo,
          );
          return (await isNoted(receipt.id)) ? receipt : null;
        },
        (receipt) => receipt !== null,
      );
      // It had one attempt, and that died with its process.
      expect(await hf.waitFor(first)).toMatchObject({ status: "dead", reason: "crashed" });
      await writeFile(files.goOn, "");
      expect(await hf.waitFor(next!)).toMatchObject({ status: "succeeded" });
      const seen = await until(notes, (found) => found.at(-1)?.what === "end");
      expect(seen.map(({ what, id }) => [what, id])).toEqual([
        ...[["start", first.id]],
        ...[["start", next!.id]],
        ...[["end", next!.id]],
      ]);
      const { locks } = await hf.locks.list({ key: "monthly_snapshot" });
      expect(locks).toMatchObject([{ state: "completed", jobId: next!.id }]);
    },
  );
});
