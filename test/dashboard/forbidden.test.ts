/** What a role may not do is not drawn for it, and is refused where somebody asks for it by hand. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { allRoutes } from "../../packages/server/src/routes/all-routes.ts";
import { onlyInFull, TIER } from "../runner/tier.ts";
import { openBrowser, visit } from "./browser.ts";
import { openHouse, type House } from "./house.ts";
import { settled } from "./walk.ts";

const ROLES = ["viewer", "operator", "admin"] as const;
type Role = (typeof ROLES)[number];
const rank = (role: string) => ROLES.indexOf(role as Role);
/** Walks through some twenty pages for each role. */
const SLOW = { timeout: 300_000 };

/** Buttons that only look, sort, copy or turn a page. */
const HARMLESS =
  /^(CSV|JSON|CLI|curl|copy|table|chart|Copy as .*|Look again|All|Any|By .*|Oldest|Newest|Random|Older|More|Open|Also resolved.*|Final|Tried again|Resolved|Done|Asked|Refused|Running|Completed|Failed|15 min|2 h|24 h|8 days|Save .*|Ready|Due later|Succeeded|Dead|Cancelled|(Newest|Oldest) first)$/;

/** By place: each button, and the route that it asks. */
const BUTTONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  jobs: { "Enqueue a job": "POST /api/v1/jobs" },
  "jobs/DEAD": {
    Retry: "POST /api/v1/jobs/:id/retry",
    // It shows the payload as it is.
    "Edit and retry": "POST /api/v1/jobs/:id/reveal",
    Remove: "DELETE /api/v1/jobs/:id",
    reveal: "POST /api/v1/jobs/:id/reveal",
  },
  "jobs/WAITING": {
    Cancel: "POST /api/v1/jobs/:id/cancel",
    Remove: "DELETE /api/v1/jobs/:id",
    reveal: "POST /api/v1/jobs/:id/reveal",
  },
  "queues/mail": {
    Pause: "POST /api/v1/queues/:queue/pause",
    Limits: "PATCH /api/v1/queues/:queue/limits",
    Limit: "PATCH /api/v1/queues/:queue/groups/:group/limits",
    Keeping: "PATCH /api/v1/queues/:queue/settings",
  },
  "queues/reports": {
    Resume: "POST /api/v1/queues/:queue/resume",
    Limits: "PATCH /api/v1/queues/:queue/limits",
    Keeping: "PATCH /api/v1/queues/:queue/settings",
  },
  "dead-letters?fault=FAULT": {
    "Dry run": "POST /api/v1/dead-letters/plan",
    Resolve: "POST /api/v1/dead-letters/groups/:fingerprint/resolve",
    Ignore: "POST /api/v1/dead-letters/groups/:fingerprint/ignore",
  },
  operations: { "Erase a tenant": "POST /api/v1/erase" },
  schedules: { "New schedule": "PUT /api/v1/schedules/:name" },
  "schedules/weekly-report": {
    "Run now": "POST /api/v1/schedules/:name/run",
    Pause: "POST /api/v1/schedules/:name/pause",
    Change: "PUT /api/v1/schedules/:name",
    Remove: "DELETE /api/v1/schedules/:name",
  },
  gates: {
    "New gate": "PUT /api/v1/gates/:name",
    "Let it decide": "POST /api/v1/gates/:name/force",
    Force: "POST /api/v1/gates/:name/force",
    Change: "PUT /api/v1/gates/:name",
    Remove: "DELETE /api/v1/gates/:name",
  },
  workers: { Quiet: "POST /api/v1/workers/:id/quiet" },
  failures: { Prune: "POST /api/v1/failures/prune" },
  locks: { Release: "DELETE /api/v1/locks/:id" },
  doctor: {},
  imports: {
    "Choose a file": "POST /api/v1/imports/xlsx/upload",
    "Dry run": "POST /api/v1/imports/xlsx/upload",
    Import: "POST /api/v1/imports/xlsx/upload",
  },
  "simulations/spring": {
    Pause: "POST /api/simulations/:id/pause",
    Abort: "POST /api/simulations/:id/abort",
    "Replay …": "POST /api/simulations/:id/dlq/replay",
    Change: "PUT /api/simulations/:id/config",
    Clear: "DELETE /api/simulations/:id/config",
  },
  "simulations/autumn": {
    Start: "POST /api/simulations/:id/start",
    Abort: "POST /api/simulations/:id/abort",
    Change: "PUT /api/simulations/:id/config",
  },
};

describe("what a role may not do", () => {
  let house: House;
  let browser: Browser | null = null;
  /** The least role of each route. */
  let needs: ReadonlyMap<string, string>;

  beforeAll(async () => {
    if (TIER !== "full") return;
    browser = await openBrowser();
    if (!browser) return;
    house = await openHouse("sqlite");
    const routes = allRoutes(house.batteries.mounts);
    needs = new Map(routes.map(({ method, path, role }) => [`${method} ${path}`, role]));
  });
  afterAll(async () => {
    await browser?.close();
    await house?.close();
  });

  const needHouse = (test: TestContext) => {
    onlyInFull(test);
    test.skip(!browser, "no Chromium here");
  };

  async function placeOf(name: string): Promise<string> {
    const { items } = (await house.data("GET", "/api/v1/dead-letters/groups")) as {
      items: { fingerprint: string }[];
    };
    return name
      .replace("DEAD", house.jobs.dead)
      .replace("WAITING", house.jobs.waiting)
      .replace("FAULT", items[0]?.fingerprint ?? "");
  }

  it.for(ROLES)("%s sees the buttons that it may press, and no other", SLOW, async (role, test) => {
    needHouse(test);
    const token = await house.token(role);
    const { page, close, wrongs } = await visit(browser!, { url: house.url, token });
    for (const [name, buttons] of Object.entries(BUTTONS)) {
      await page.goto(`${house.url}/#/${await placeOf(name)}`);
      await settled(page);
      const own = Object.entries(buttons)
        .filter(([, route]) => {
          const least = needs.get(route);
          expect(least, `${route} is a route`).toBeDefined();
          return rank(role) >= rank(least ?? "");
        })
        .map(([button]) => button);
      // Parts of a page come after the page.
      const shown = async () => {
        const texts = await page.locator("main button").allTextContents();
        return [...new Set(texts.map((text) => text.trim()))]
          .filter((text) => !HARMLESS.test(text))
          .sort();
      };
      await expect.poll(shown, { message: name, timeout: 10_000 }).toEqual([...own].sort());
    }
    expect(wrongs).toEqual([]);
    await close();
  });

  it.for(["viewer", "operator"] as const)(
    "%s gets 403 from every route above it",
    async (role, test) => {
      needHouse(test);
      const token = await house.token(role);
      const above = [...needs].filter(([, least]) => rank(least) > rank(role));
      expect(above.length).toBeGreaterThan(10);
      const answers = await Promise.all(
        above.map(async ([route]) => {
          const [method = "", path = ""] = route.split(" ");
          const body = method === "GET" ? {} : { body: {} };
          const { status } = await house.call(method, path.replaceAll(/:\w+/g, "x"), {
            token,
            ...body,
          });
          return `${route} ${status}`;
        }),
      );
      expect(answers).toEqual(above.map(([route]) => `${route} 403`));
    },
  );
});
