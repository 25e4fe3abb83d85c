/**
 * Every page in the full tier: two stores, light and dark, desk and phone, each role; with pictures, and with axe
 * for what people who do not see or do not use a mouse would miss.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { onlyInFull, TIER } from "../runner/tier.ts";
import { openBrowser, SHOTS, visit } from "./browser.ts";
import { openHouse, type House } from "./house.ts";
import { settled, walk } from "./walk.ts";

const axeFile = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;
/** In between, where a layout breaks first. */
const WIDTHS = [1200, 1024, 821];

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

describe.each(["sqlite", "postgres"] as const)("every page on %s", (store) => {
  let house: House | null = null;
  let browser: Browser | null = null;
  let axe = "";

  beforeAll(async () => {
    if (TIER !== "full") return;
    browser = await openBrowser();
    if (!browser) return;
    axe = await readFile(axeFile, "utf8");
    house = await openHouse(store);
  });
  afterAll(async () => {
    await browser?.close();
    await house?.close();
  });

  /** By the browser's own tools, which no CSP keeps out. */
  async function look(page: Page): Promise<string[]> {
    await page.evaluate(axe);
    const found = (await page.evaluate(
      "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
    )) as Finding[];
    return found
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(
        ({ id, nodes }) =>
          `${id}: ${nodes[0]?.html.slice(0, 160)} ${nodes[0]?.failureSummary ?? ""}`,
      );
  }

  const looks = ["light desk", "light phone", "dark desk", "dark phone"];
  it.for(looks)(
    "%s: for each role it fits, nothing is wrong, and axe finds nothing serious",
    { timeout: 400_000 },
    async (name, test) => {
      onlyInFull(test);
      test.skip(!browser, "no Chromium here");
      const [theme, size] = name.split(" ") as ["light" | "dark", keyof typeof SIZES];
      const problems: string[] = [];
      for (const role of ["admin", "operator", "viewer"] as const) {
        const token = await house!.token(role);
        const visited = await visit(browser!, { url: house!.url, token, theme, ...SIZES[size] });
        await walk(visited, house!, {
          shots: `${store}-${theme}-${size}-${role}`,
          async onPage(place, page) {
            // The others see a part of the same.
            if (role !== "admin") return;
            for (const one of await look(page)) problems.push(`${role} ${place}: ${one}`);
          },
        });
        await visited.close();
      }
      expect(problems).toEqual([]);
    },
  );
});

describe("by keyboard alone", () => {
  it("a job is found, opened and retried", { timeout: 120_000 }, async (test) => {
    onlyInFull(test);
    const browser = await openBrowser();
    test.skip(!browser, "no Chromium here");
    const house = await openHouse("sqlite", { server: { environment: { name: "staging" } } });
    try {
      const { page } = await visit(browser!, {
        url: house.url,
        token: await house.token("operator"),
      });
      await page.keyboard.press("/");
      await page.keyboard.type("type:billing.recalc status:dead");
      await page.keyboard.press("Enter");
      await expect.poll(() => page.locator("main tbody tr").count()).toBe(3);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      await page.locator("main tbody tr").first().focus();
      await page.keyboard.press("x");
      await expect.poll(() => page.getByText("1 job selected").count()).toBe(1);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await settled(page);
      await page.getByRole("button", { name: "Retry", exact: true }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.type("by keyboard");
      await page.keyboard.press("Enter");
      await page.getByText("It is queued again.").waitFor();
      await page.keyboard.press("?");
      await page.getByText("Go to Dead letters").waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("g");
      await page.keyboard.press("d");
      await expect.poll(() => page.url()).toContain("#/dead-letters");
    } finally {
      await browser?.close();
      await house.close();
    }
  });
});

describe("between a desk and a phone", () => {
  it(
    "the header has one line, and the environment its whole name",
    { timeout: 120_000 },
    async (test) => {
      onlyInFull(test);
      const browser = await openBrowser();
      test.skip(!browser, "no Chromium here");
      const house = await openHouse("sqlite");
      try {
        const token = await house.token("operator");
        const { page } = await visit(browser!, { url: house.url, token });
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 800 });
          await settled(page);
          const header = await page.locator("header.top").boundingBox();
          expect(header?.height, `at ${width}`).toBeLessThan(60);
          const isWhole = await page
            .locator("header .env")
            .evaluate((one) => one.scrollWidth <= one.clientWidth);
          expect(isWhole, `at ${width}`).toBe(true);
          await page.screenshot({ path: `${SHOTS}overview-${width}.png`, fullPage: true });
        }
      } finally {
        await browser?.close();
        await house.close();
      }
    },
  );
});

const PICTURES = {
  ...{ overview: "overview", "dead-letters": "dead-letters" },
  ...{ imports: "imports", simulation: "simulations/spring" },
};

/** The pictures of the guide: `HOLDFAST_TEST_TIER=full HOLDFAST_PICTURES=1 npx vitest run test/dashboard`. */
describe("the guide's pictures", () => {
  it("are of the pages as they are", { timeout: 400_000 }, async (test) => {
    onlyInFull(test);
    test.skip(
      process.env["HOLDFAST_PICTURES"] === undefined,
      "only where HOLDFAST_PICTURES is set",
    );
    const browser = await openBrowser();
    test.skip(!browser, "no Chromium here");
    const house = await openHouse("sqlite", { isCalm: true });
    try {
      const token = await house.token("operator");
      const { page } = await visit(browser!, { url: house.url, token, width: 1280, height: 800 });
      await traffic(house);
      const folder = fileURLToPath(new URL("../../docs/images/", import.meta.url));
      for (const [name, place] of Object.entries(PICTURES)) {
        await page.goto(`${house.url}/#/${place}`);
        await settled(page);
        if (name === "dead-letters") await page.getByRole("link", { name: /ECONNREFUSED/ }).click();
        await settled(page);
        await page.screenshot({ path: `${folder}dashboard-${name}.png` });
      }
    } finally {
      await browser?.close();
      await house.close();
    }
  });
});

const PICTURED_MS = 200_000;

/** A few minutes of work, for charts that have something to show. */
async function traffic({ hf }: House): Promise<void> {
  const until = Date.now() + PICTURED_MS;
  for (let at = 0; Date.now() < until; at += 1) {
    const isBusy = Math.sin(at / 40) > -0.3;
    for (let job = 0; job < (isBusy ? 6 : 2); job += 1) {
      await hf.enqueue("email.send" as never, { at } as never, { group: `tenant-${job}` } as never);
    }
    if (at % 90 === 0) await hf.enqueue("billing.recalc" as never, { at } as never);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
