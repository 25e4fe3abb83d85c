/** A house with an admin in a browser, for the tests of one file: only where the full tier runs and Chromium is. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, type TestContext } from "vitest";
import { onlyInFull, TIER } from "../runner/tier.ts";
import { ADMIN_TOKEN } from "../server/served.ts";
import { openBrowser, visit, type Visit } from "./browser.ts";
import { openHouse, type House } from "./house.ts";
import { settled } from "./walk.ts";

interface Staged {
  readonly house: House;
  readonly browser: Browser;
  readonly admin: Visit;
}

export class Stage {
  #staged: Staged | null = null;

  /** In a `describe`: opened before its tests, closed after them. */
  constructor() {
    beforeAll(async () => {
      const browser = TIER === "full" ? await openBrowser() : null;
      if (!browser) return;
      const house = await openHouse("sqlite", { server: { environment: { name: "staging" } } });
      const admin = await visit(browser, { url: house.url, token: ADMIN_TOKEN });
      this.#staged = { house, browser, admin };
    });
    afterAll(async () => {
      await this.#staged?.browser.close();
      await this.#staged?.house.close();
    });
  }

  /** Ends a test as not run where there is nothing to look at. */
  need(test: TestContext): void {
    onlyInFull(test);
    test.skip(this.#staged === null, "no Chromium here");
  }

  /** The page at a place, which may be asked of the house: that is there only where the test is run. */
  async open(test: TestContext, place: string | (() => string), by?: Visit): Promise<Page> {
    this.need(test);
    const { page } = by ?? this.admin;
    await page.goto(`${this.house.url}/#/${typeof place === "string" ? place : place()}`);
    await settled(page);
    return page;
  }

  get house(): House {
    return this.#there.house;
  }

  get browser(): Browser {
    return this.#there.browser;
  }

  get admin(): Visit {
    return this.#there.admin;
  }

  get #there(): Staged {
    if (this.#staged === null) throw new Error("ask need() or open() first");
    return this.#staged;
  }
}
