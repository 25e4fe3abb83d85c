/** The dashboard in a real browser: every page once, what buttons do, what roles are not offered. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { onlyInFull } from "../runner/tier.ts";
import { ADMIN_TOKEN } from "../server/served.ts";
import { openBrowser, visit, type Visit } from "./browser.ts";
import { ENVIRONMENT, openHouse, type House } from "./house.ts";
import { settled, walk } from "./walk.ts";

describe("the dashboard", () => {
  let house: House;
  let browser: Browser | null;
  let admin: Visit;

  beforeAll(async () => {
    browser = await openBrowser();
    if (!browser) return;
    house = await openHouse("sqlite");
    admin = await visit(browser, { url: house.url, token: ADMIN_TOKEN });
  });
  afterAll(async () => {
    await browser?.close();
    await house?.close();
  });

  const needBrowser = (test: TestContext) => test.skip(!browser, "no Chromium here");

  it("shows every page without an error, a dialog or a word from the CSP", async (test) => {
    needBrowser(test);
    const seen = await walk(admin, house, { shots: null });
    expect(seen).toEqual(expect.arrayContaining(["overview", "dead-letters", "jobs", "queues"]));
    expect(await admin.page.title()).toContain(ENVIRONMENT.name);
  });

  it("finds jobs by what is typed, and its address finds them again", async (test) => {
    needBrowser(test);
    const { page } = admin;
    await page.goto(`${house.url}/#/overview`);
    await page.keyboard.press("/");
    await page.keyboard.type("type:crm.* status:dead");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain("q=type%3Acrm.*+status%3Adead");
    await expect.poll(() => page.locator("main tbody tr").count()).toBe(9);
    await page.reload();
    await expect.poll(() => page.locator("main tbody tr").count()).toBe(9);
  });

  it("asks for the environment's name before something destructive, and does it then", async (test) => {
    needBrowser(test);
    const { page } = admin;
    await page.goto(`${house.url}/#/jobs/${house.jobs.waiting}`);
    await settled(page);
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Cancel the job" }).click();
    await page.getByText("Type the name of this environment").waitFor();
    expect((await house.hf.job(house.jobs.waiting))?.status).toBe("queued");
    await page.getByLabel("Type its name to go on").fill(ENVIRONMENT.name);
    await page.getByRole("button", { name: "Cancel the job" }).click();
    await page.getByText("It is cancelled.").first().waitFor();
    expect((await house.hf.job(house.jobs.waiting))?.status).toBe("cancelled");
  });

  it("replays the jobs of a fault: dry run, reason, start", async (test) => {
    needBrowser(test);
    const { page } = admin;
    await page.goto(`${house.url}/#/dead-letters`);
    await page.getByRole("link", { name: /ECONNREFUSED/ }).click();
    await page.getByRole("button", { name: "Dry run" }).click();
    await page.getByText("Dry run: retry would touch 9 jobs").waitFor();
    await page.getByRole("button", { name: "Replay 9 jobs …" }).click();
    await page.getByRole("button", { name: "Replay 9 jobs", exact: true }).click();
    await page.getByText("Say why").waitFor();
    await page.getByLabel(/^Reason/).fill("HubSpot is back");
    await page.getByRole("button", { name: "Replay 9 jobs", exact: true }).click();
    await page.getByText("The replay has begun.").waitFor();
    const operations = await house.hf.operations.list();
    expect(operations[0]).toMatchObject({ of: 9, reason: "HubSpot is back" });
    expect(operations[0]?.by).toContain("admin token");
  });

  it("offers a viewer nothing that its role may not do", async (test) => {
    needBrowser(test);
    const viewer = await visit(browser!, { url: house.url, token: await house.token("viewer") });
    for (const link of [`jobs/${house.jobs.dead}`, "jobs", "dead-letters", "queues/mail"]) {
      await viewer.page.goto(`${house.url}/#/${link}`);
      await settled(viewer.page);
      const offered = viewer.page.getByRole("button", {
        name: /^(Retry|Cancel$|Remove|Pause|Resume|Enqueue|Dry run|Limits|Keeping|Resolve|reveal)/,
      });
      expect(await offered.allTextContents(), link).toEqual([]);
    }
    expect(viewer.wrongs).toEqual([]);
    await viewer.close();
  });

  it("stands still while it is frozen, and goes on", async (test) => {
    onlyInFull(test);
    needBrowser(test);
    const { page } = admin;
    await page.goto(`${house.url}/#/queues`);
    await settled(page);
    await page.keyboard.press("f");
    await page.getByText("Frozen: nothing here changes").waitFor();
    let asked = 0;
    const count = () => void (asked += 1);
    page.on("request", count);
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await house.hf.enqueue("email.send" as never, { frozen: true } as never);
    // Three of the intervals in which a page that is not frozen asks again would pass here.
    await page.waitForTimeout(3_500);
    expect(asked).toBe(0);
    page.off("request", count);
    await page.keyboard.press("f");
    await expect.poll(() => page.getByText("live", { exact: true }).count()).toBe(1);
  });
});
