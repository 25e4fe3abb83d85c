/** A day with more jobs than a route looks at. */
import { classic } from "@holdfast/server/classic";
import { afterEach, expect, it } from "vitest";
import { serve, type Served } from "./served.ts";

let served: Served | null = null;
afterEach(async () => {
  await served?.close();
  served = null;
});

it("system 4 counts all jobs of a day, also where they are too many to be looked at", async () => {
  const own = (served = await serve("sqlite", { mounts: [classic()] }));
  own.hf.define({ type: "mail.send", queue: "mail", run: () => null });
  const jobs = 2_150;
  for (let made = 0; made < jobs; made += 215) {
    const item = { type: "mail.send", payload: {} };
    await own.hf.enqueueAll(Array.from({ length: 215 }, () => item));
  }
  await own.hf.work({ concurrency: 100 });
  const completed = async (path: string) => {
    const { json } = await own.call("GET", path);
    return json.completed ?? json.counts.completed;
  };
  await expect.poll(() => completed("/api/queue/stats"), { timeout: 30_000 }).toBe(jobs);
  expect(await completed("/api/queue/monitor?queue=mail")).toBe(jobs);
});
