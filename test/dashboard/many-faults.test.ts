/** More faults than a page draws at once. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { onlyInFull, TIER } from "../runner/tier.ts";
import { ADMIN_TOKEN, serve, type Served } from "../server/served.ts";
import { openBrowser, visit } from "./browser.ts";
import { settled } from "./walk.ts";

const FAULTS = 60;

describe("many faults", () => {
  let served: Served;
  let browser: Browser | null = null;

  beforeAll(async () => {
    if (TIER !== "full") return;
    browser = await openBrowser();
    if (!browser) return;
    served = await serve("sqlite");
    const { hf } = served;
    const ids: string[] = [];
    for (let at = 0; at < FAULTS; at += 1) {
      const type = `sort-${at}.run`;
      const run = () => Promise.reject(new Error("it does not work"));
      hf.define({ type, queue: "many", retry: { maxAttempts: 1 }, run } as never);
      ids.push((await hf.enqueue(type as never, {} as never)).id);
    }
    await hf.work({ queues: ["many"], concurrency: 10 });
    for (const id of ids) await hf.waitFor(id, { timeoutMs: 60_000 });
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
  });

  it("the commonest are drawn, all on demand, and a link to a rare one leads to it", async (test) => {
    onlyInFull(test);
    test.skip(!browser, "no Chromium here");
    const { page, wrongs } = await visit(browser!, { url: served.url, token: ADMIN_TOKEN });
    const faults = page.getByRole("table", { name: "Faults" }).locator("tbody tr");
    await page.goto(`${served.url}/#/dead-letters`);
    await settled(page);
    await expect.poll(() => faults.count()).toBe(50);
    await page.getByText("at least 50 faults").waitFor();
    await page.getByRole("link", { name: "Up to 200" }).click();
    await expect.poll(() => faults.count()).toBe(FAULTS);

    const { items } = (await served.data("GET", "/api/v1/dead-letters/groups?limit=200")) as {
      items: { fingerprint: string }[];
    };
    await page.goto(`${served.url}/#/overview`);
    await page.goto(`${served.url}/#/dead-letters?fault=${items.at(-1)?.fingerprint}`);
    await page.getByRole("heading", { name: "The fault" }).waitFor();
    await expect.poll(() => faults.count()).toBe(FAULTS);
    // What was added to the address is no step of its own.
    await page.goBack();
    await expect.poll(() => page.url()).toContain("#/overview");
    expect(wrongs).toEqual([]);
  });
});
