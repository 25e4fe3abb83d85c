/** Without a mouse: whatever can be pressed is reached by Tab, and what has the focus shows it. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { Stage } from "./stage.ts";
import { placesOf, settled } from "./walk.ts";

/** One of each kind of page; lists of fifty rows would only repeat themselves. */
const PLACES = [
  ...["overview", "fault", "job-dead", "queue", "queues", "operations", "schedules", "gates"],
  ...["workers", "locks", "doctor", "tokens", "imports", "import", "simulation-spring"],
];
const MOST_TABS = 300;

describe("by keyboard", () => {
  const stage = new Stage();

  it(
    "Tab reaches whatever can be pressed, on every kind of page",
    { timeout: 400_000 },
    async (test) => {
      stage.need(test);
      const { page } = stage.admin;
      const places = await placesOf(page, stage.house);
      for (const name of PLACES) {
        await page.goto(`${stage.house.url}/${places.get(name)}`);
        // Anew: the focus begins at the top.
        await page.reload();
        await settled(page);
        const dull = await tabThrough(page);
        expect(dull, `${name}: what has the focus shows it`).toEqual([]);
        expect(await missed(page), `${name}: not reached`).toEqual([]);
      }
    },
  );

  it("a question keeps the focus inside, and gives it back", async (test) => {
    stage.need(test);
    const { page } = stage.admin;
    await page.goto(`${stage.house.url}/#/queues/mail`);
    await settled(page);
    const pause = page.getByRole("button", { name: "Pause", exact: true }).first();
    await pause.press("Enter");
    await page.getByRole("dialog").waitFor();
    for (let tab = 0; tab < 12; tab += 1) {
      await page.keyboard.press("Tab");
      const isOutside = await page.evaluate(() => {
        const focused = document.activeElement;
        // At its end the focus goes to the browser itself, and comes back.
        return focused !== document.body && focused?.closest("dialog") === null;
      });
      expect(isOutside).toBe(false);
    }
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => pause.evaluate((one) => one === document.activeElement)).toBe(true);
  });
});

/** Marks what had the focus; answers what did not show it. */
async function tabThrough(page: Page): Promise<string[]> {
  const dull: string[] = [];
  // Between the last and the first the focus is the browser's own; it may begin there.
  let ends = 0;
  for (let tab = 0; ends < 2 && tab < MOST_TABS; tab += 1) {
    await page.keyboard.press("Tab");
    const told = await page.evaluate(() => {
      const focused = document.activeElement;
      if (!focused || focused === document.body) return "the end";
      focused.setAttribute("data-reached", "");
      const { outlineStyle } = getComputedStyle(focused);
      return outlineStyle === "none" ? focused.outerHTML.slice(0, 120) : null;
    });
    if (told === "the end") ends += 1;
    else if (told !== null) dull.push(told);
  }
  return dull;
}

function missed(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const pressed = "a[href], button:enabled, input:enabled, select:enabled, textarea, summary";
    return [...document.querySelectorAll<HTMLElement>(`main :is(${pressed}, tr[tabindex='0'])`)]
      .filter((one) => one.checkVisibility() && one.tabIndex !== -1)
      .filter((one) => !one.hasAttribute("data-reached"))
      .map((one) => one.outerHTML.slice(0, 120));
  });
}
