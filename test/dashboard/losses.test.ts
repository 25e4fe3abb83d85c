/** What a page does without its stream, its session or its right. */
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { onlyInFull, TIER } from "../runner/tier.ts";
import { ADMIN_TOKEN } from "../server/served.ts";
import { openBrowser, visit } from "./browser.ts";
import { openHouse, type House } from "./house.ts";
import { settled } from "./walk.ts";

const EVENTS = "**/api/v1/events*";
const SLOW = { timeout: 60_000 };
/** A stream that says nothing is given up after eight seconds, looked at every two. */
const PATIENT = { timeout: 20_000, interval: 200 };

describe("without what it had", () => {
  let house: House;
  let browser: Browser | null = null;
  let role: "admin" | "viewer" = "admin";

  beforeAll(async () => {
    if (TIER !== "full") return;
    browser = await openBrowser();
    if (!browser) return;
    const auth = { adminToken: ADMIN_TOKEN, user: () => ({ name: "ann", role }) };
    house = await openHouse("sqlite", { server: { auth } });
  });
  afterAll(async () => {
    await browser?.close();
    await house?.close();
  });

  const needBrowser = (test: TestContext) => {
    onlyInFull(test);
    test.skip(!browser, "no Chromium here");
  };

  it.for([
    [
      "refuses the stream",
      (to: BrowserContext) => to.route(EVENTS, (one) => one.fulfill({ status: 502 })),
    ],
    // Neither answered nor refused.
    ["holds the stream back", (to: BrowserContext) => to.route(EVENTS, () => {})],
  ] as const)(
    "a page asks every few seconds where a proxy %s",
    SLOW,
    async ([how, block], test) => {
      needBrowser(test);
      const { page, close } = await visit(browser!, {
        ...{ url: house.url, token: null },
        prepare: async (context) => void (await block(context)),
      });
      await expect.poll(() => page.getByText("every 4 s").count(), PATIENT).toBe(1);
      const queues = () => page.locator("nav.nav a[href='#/queues'] .n").textContent();
      const before = Number(await queues());
      const queue = how.replaceAll(" ", "-");
      await house.hf.enqueue("email.send" as never, {} as never, { queue } as never);
      await expect.poll(async () => Number(await queues()), PATIENT).toBe(before + 1);
      await close();
    },
  );

  it("a page whose session is over says so, and asks for a token", async (test) => {
    needBrowser(test);
    const own = await openHouse("sqlite");
    try {
      const { page } = await visit(browser!, { url: own.url, token: await own.token("operator") });
      await page.goto(`${own.url}/#/queues`);
      await settled(page);
      const { items } = (await own.data("GET", "/api/v1/tokens")) as {
        items: { id: string; name: string }[];
      };
      const token = items.find(({ name }) => name === "operator");
      await own.data("DELETE", `/api/v1/tokens/${token?.id}`);
      await page.getByText("Your session is over, or its token was removed.").waitFor();
      await page.getByLabel("Token").fill(ADMIN_TOKEN);
      await page.getByRole("button", { name: "Log in" }).click();
      // It is where it was.
      await page.getByRole("heading", { name: "Queues", exact: true }).waitFor();
    } finally {
      await own.close();
    }
  });

  it("a page that loses its right says so, and keeps what it had", async (test) => {
    needBrowser(test);
    const { page, close } = await visit(browser!, { url: house.url, token: null });
    await page.goto(`${house.url}/#/audit`);
    await settled(page);
    const rows = await page.locator("main tbody tr").count();
    expect(rows).toBeGreaterThan(0);
    role = "viewer";
    const told = page.getByText("Your role does not allow this any more.");
    await expect.poll(() => told.count(), { timeout: 30_000, interval: 200 }).toBeGreaterThan(0);
    expect(await page.locator("main tbody tr").count()).toBe(rows);
    await page.reload();
    await page.getByText("This page takes the role admin.").waitFor();
    role = "admin";
    await close();
  });
});
