/** Names, payloads, errors, reasons and logs that would do something, if a page took them for more than text. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { onlyInFull, TIER } from "../runner/tier.ts";
import { ADMIN_TOKEN } from "../server/served.ts";
import { openBrowser, visit, type Visit } from "./browser.ts";
import { HOSTILE, openHouse, type House } from "./house.ts";
import { placesOf, settled } from "./walk.ts";

const [IMAGE = ""] = HOSTILE;
/** Where a part of them is seen without a click. */
const SHOWN = [
  ...["overview", "dead-letters", "job-hostile", "job-held", "jobs-dead", "queues", "queue-held"],
  ...["operations", "failures", "audit", "tokens", "simulation-summer"],
];

describe("hostile texts", () => {
  let house: House;
  let browser: Browser | null = null;
  let admin: Visit;

  beforeAll(async () => {
    if (TIER !== "full") return;
    browser = await openBrowser();
    if (!browser) return;
    house = await openHouse("sqlite", { server: { environment: { name: "staging" } } });
    admin = await visit(browser, { url: house.url, token: ADMIN_TOKEN });
  });
  afterAll(async () => {
    await browser?.close();
    await house?.close();
  });

  const needBrowser = (test: TestContext) => {
    onlyInFull(test);
    test.skip(!browser, "no Chromium here");
  };

  /** What they would have made of the page. */
  const made = (page: Page) =>
    page
      .locator("main :is(img, script, iframe, svg[onload], [onerror], a[href^='javascript:' i])")
      .count();

  it(
    "are text on every page, with everything opened that opens",
    { timeout: 300_000 },
    async (test) => {
      needBrowser(test);
      const { page, wrongs } = admin;
      const seen: string[] = [];
      const places = await placesOf(page, house);
      places.set("schedule", "#/schedules/weekly-report");
      for (const [name, link] of places) {
        await page.goto(`${house.url}/${link}`);
        await settled(page);
        await page.evaluate(() => {
          for (const one of document.querySelectorAll("details")) one.open = true;
        });
        expect(await made(page), name).toBe(0);
        const text = await page.locator("main").innerText();
        if (HOSTILE.some((one) => text.includes(one.slice(0, 20)))) seen.push(name);
        expect(wrongs, name).toEqual([]);
      }
      expect(seen).toEqual(expect.arrayContaining(SHOWN));
    },
  );

  it("are text in a dialog, a toast, the title and the search", async (test) => {
    needBrowser(test);
    const { page, wrongs } = admin;
    await page.goto(`${house.url}/#/jobs/${house.jobs.hostile}`);
    await settled(page);
    await page.getByRole("button", { name: "Edit and retry" }).click();
    const payload = page.getByRole("dialog").getByLabel("Payload, as JSON");
    expect(await payload.inputValue()).toContain("<img src=x");
    await page.keyboard.press("Escape");
    await page.goto(`${house.url}/#/queues/${encodeURIComponent(IMAGE)}`);
    await page.getByRole("alert").first().waitFor();
    expect(await page.title()).toContain("<img src=x");
    await page.goto(
      `${house.url}/#/jobs?q=${encodeURIComponent(`error:"${IMAGE.replaceAll('"', "")}"`)}`,
    );
    await settled(page);
    expect(await made(page)).toBe(0);
    // No queue can have such a name: that is told with 422, which the browser notes.
    expect(wrongs.filter((wrong) => !wrong.includes("422"))).toEqual([]);
    wrongs.length = 0;
  });

  it("are text as the name of a file to import", async (test) => {
    needBrowser(test);
    const { page, wrongs } = admin;
    await page.goto(`${house.url}/#/imports`);
    await settled(page);
    const name = `<img src=x onerror=alert(1)>.csv`;
    const file = { name, mimeType: "text/csv", buffer: Buffer.from("email,name\n") };
    await page.getByLabel("File to import").setInputFiles(file);
    await page.getByText(`The manifest does not name ${name}`).waitFor();
    expect(await made(page)).toBe(0);
    expect(wrongs).toEqual([]);
  });
});
