/** Every page that the navigation offers, and one thing of each kind. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { House } from "./house.ts";
import { overflows, SHOTS, type Visit } from "./browser.ts";

/** Where a walk goes, by a short name. */
export async function placesOf(page: Page, house: House): Promise<Map<string, string>> {
  const links = page.locator("nav.nav a:not(.brand)");
  const own = await links.evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
  const { jobs } = house;
  const faults = (await house.data("GET", "/api/v1/dead-letters/groups")) as {
    items: { fingerprint: string }[];
  };
  return new Map([
    ...own.map((link) => [link.slice(2), link] as const),
    ["job-dead", `#/jobs/${jobs.dead}`],
    ["job-running", `#/jobs/${jobs.running}`],
    ["job-held", `#/jobs/${jobs.held}`],
    ["job-hostile", `#/jobs/${jobs.hostile}`],
    ["jobs-dead", "#/jobs?q=status%3Adead"],
    ["queue", "#/queues/mail"],
    ["queue-held", "#/queues/reports"],
    ["import", `#/imports/${house.batteries.imports.done}`],
    ["import-dead", `#/imports/${house.batteries.imports.dead}`],
    ...["spring", "autumn", "summer"].map(
      (id) => [`simulation-${id}`, `#/simulations/${id}`] as const,
    ),
    ["fault", `#/dead-letters?fault=${faults.items[0]?.fingerprint}`],
  ]);
}

export interface WalkOptions {
  /** Behind the name of each picture; null: none are made. */
  readonly shots: string | null;
  readonly onPage?: (name: string, page: Page) => Promise<void>;
}

/** Fails at the first page that is not as it should be. */
export async function walk(
  { page, wrongs }: Visit,
  house: House,
  options: WalkOptions,
): Promise<string[]> {
  const places = await placesOf(page, house);
  for (const [name, link] of places) {
    await page.goto(`${house.url}/${link}`);
    await settled(page);
    expect(
      await page.locator("main h1, main .state b").count(),
      `${name} says what it is`,
    ).toBeGreaterThan(0);
    expect(await page.locator("main [role=alert].state").count(), `${name} shows no failure`).toBe(
      0,
    );
    expect(await overflows(page), `${name} fits`).toEqual([]);
    await options.onPage?.(name, page);
    if (options.shots !== null) {
      await page.screenshot({ path: `${SHOTS}${name}-${options.shots}.png`, fullPage: true });
    }
    expect(wrongs, name).toEqual([]);
  }
  return [...places.keys()];
}

/** What it asked for has come. */
export async function settled(page: Page): Promise<void> {
  await page.locator("main").waitFor();
  await page.waitForFunction(() => document.querySelector("main [aria-busy=true]") === null);
}
