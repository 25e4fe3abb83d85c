/** What is over is asked for seldom, and what is huge is not drawn as a whole. */
import { describe, expect, it } from "vitest";
import { Stage } from "./stage.ts";

describe("what a page asks for and draws", () => {
  const stage = new Stage();

  it("an operation that has ended is not asked for each second", async (test) => {
    stage.need(test);
    const { hf } = stage.house;
    const plan = await hf.operations.plan({ action: "cancel", filter: { queue: "nowhere" } });
    await plan.start({ by: "ops", reason: "to see it" });
    await expect.poll(async () => (await hf.operations.get(plan.id)).state).toBe("finished");
    const { page } = stage.admin;
    let asked = 0;
    page.on("request", (request) => void (asked += Number(request.url().includes(plan.id))));
    await page.clock.install();
    await stage.open(test, `operations/${plan.id}`);
    await page.getByText("It has dealt with 0 jobs.").waitFor();
    asked = 0;
    // Ten seconds of the page, each answered before the next begins.
    for (let second = 0; second < 10; second += 1) {
      await page.clock.runFor(1_000);
      await page.waitForLoadState("networkidle").catch(() => {});
    }
    expect(asked).toBeLessThanOrEqual(1);
  });

  it("a hundred workers of five thousand queues are a page, not half a million names", async (test) => {
    stage.need(test);
    const { page } = stage.admin;
    const queues = Array.from({ length: 5_000 }, (_, at) => `queue-of-tenant-${at}`);
    const at = new Date().toISOString();
    const items = Array.from({ length: 100 }, (_, pid) => ({
      ...{ id: `w-${pid}`, host: "box", pid, version: null, queues, types: [], slots: 10 },
      ...{ active: 0, running: [], leaseMs: 10_000, isQuiet: false, loopDelayMs: 1 },
      ...{ memoryBytes: 1, startedAt: at, seenAt: at },
    }));
    await page.route("**/api/v1/workers", (route) =>
      route.fulfill({ json: { success: true, data: { items, nextCursor: null } } }),
    );
    await stage.open(test, "workers");
    await expect.poll(() => page.getByText("and 4,988 more queues").count()).toBe(100);
    expect((await page.locator("main").innerText()).length).toBeLessThan(100_000);
    await page.unroute("**/api/v1/workers");
  });
});
