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
import { openBrowser, visit } from "./browser.ts";
import { openHouse, type House } from "./house.ts";
import { settled, walk } from "./walk.ts";

const axeFile = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;

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
            for (const one of await look(page)) problems.push(`${role} ${place}: ${one}`);
          },
        });
        await visited.close();
      }
      expect(problems).toEqual([]);
    },
    400_000,
  );
});

describe("by keyboard alone", () => {
  it("a job is found, opened and retried", async (test) => {
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

/** The pictures of the guide: `HOLDFAST_TEST_TIER=full HOLDFAST_PICTURES=1 npx vitest run test/dashboard`. */
describe("the guide's pictures", () => {
  it("are of the pages as they are", async (test) => {
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
      const { page } = await visit(browser!, { url: house.url, token, width: 1200, height: 760 });
      const folder = fileURLToPath(new URL("../../docs/images/", import.meta.url));
      for (const name of ["overview", "dead-letters"]) {
        await page.goto(`${house.url}/#/${name}`);
        await settled(page);
        if (name === "dead-letters") await page.getByRole("link", { name: /ECONNREFUSED/ }).click();
        await settled(page);
        // A few seconds of live numbers, for the small trends.
        await page.waitForTimeout(4_000);
        await page.screenshot({ path: `${folder}dashboard-${name}.png` });
      }
    } finally {
      await browser?.close();
      await house.close();
    }
  });
});
