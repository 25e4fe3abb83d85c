/** The back office in a browser: people log in, import, mend what broke, run a simulation, and read who did what. */
// Functions of the dashboard's tests run in the page.
/// <reference lib="dom" />
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { SAMPLE_USERS } from "../../apps/backoffice/src/data/seed.ts";
import { answer } from "../dashboard/answer.ts";
import { openBrowser, visit, type Visit } from "../dashboard/browser.ts";
import { settled } from "../dashboard/walk.ts";
import { onlyInFull, TIER } from "../runner/tier.ts";
import { CrmOffice, type CrmJob } from "./crm-office.ts";
import type { Who } from "./office.ts";

const TEST_MS = 180_000;
/** A browser beside everything else makes a machine slow. */
const WAIT = { timeout: 60_000 };
const REASON = "the portal is mended";
const RECORDS = 4;

describe("the back office in a browser", () => {
  let crm: CrmOffice;
  let browser: Browser | null = null;
  const visits = new Map<Who, Visit>();

  beforeAll(async () => {
    if (TIER !== "full") return;
    browser = await openBrowser();
    if (browser) crm = await CrmOffice.open();
  });
  afterAll(async () => {
    await browser?.close();
    await crm?.close();
  });

  /** A person at a page, whom the login page has let in. */
  async function open(test: TestContext, who: Who, place: string): Promise<Page> {
    onlyInFull(test);
    test.skip(!browser, "no Chromium here");
    const { url } = crm.office;
    const prepare = (context: BrowserContext) => logIn(context, url, who);
    const known = visits.get(who) ?? (await visit(browser!, { url, token: null, prepare }));
    visits.set(who, known);
    known.page.setDefaultTimeout(WAIT.timeout);
    await known.page.goto(`${url}/#/${place}`);
    await settled(known.page);
    return known.page;
  }

  it(
    "lets staff and admins in by their passwords, and each sees what is theirs",
    async (test) => {
      for (const [who, hasAudit] of [
        ["staff", false],
        ["admin", true],
      ] as const) {
        const page = await open(test, who, "overview");
        const links = await page.locator("nav.nav a").allTextContents();
        expect(links.join()).toMatch(/Imports.*Simulations/);
        expect(links.join().includes("Audit"), who).toBe(hasAudit);
      }
    },
    TEST_MS,
  );

  it(
    "lets them out again: what comes after is the login",
    async (test) => {
      await open(test, "viewer", "overview");
      const { page } = visits.get("viewer")!;
      await page.getByRole("button", { name: "Log out" }).click();
      await page.waitForURL("**/login");
      await page.goto(crm.office.url);
      await page.waitForURL("**/login");
      expect(await page.context().cookies()).toEqual([]);
      await visits.get("viewer")!.close();
      visits.delete("viewer");
    },
    TEST_MS,
  );

  it(
    "imports a spreadsheet that staff upload, and shows it to its end",
    async (test) => {
      const page = await open(test, "staff", "imports");
      const { data } = crm.office;
      const text = "E-mail,Name\nnew1@example.com,One\nnew2@example.com,Two\nno address,None\n";
      const chosen = { name: "Customers.csv", mimeType: "text/csv", buffer: Buffer.from(text) };
      await page.getByLabel("File to import").setInputFiles(chosen);
      await page.getByText("Imported as customers").waitFor();
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("3 rows: 2 inserted, 1 failed").waitFor();
      await page.getByRole("table", { name: "Failed rows" }).locator("tbody tr").waitFor();
      expect(await data.count("customers", { email: "new1@example.com" })).toBe(1);
    },
    TEST_MS,
  );

  it(
    "shows a job that died, and staff replay it with a reason",
    async (test) => {
      const page = await open(test, "staff", "dead-letters");
      await page.getByText("No fault is open.").waitFor();
      const path = /contacts\/batch\/upsert/;
      crm.double.faults.add({
        kind: "missing_scopes",
        scopes: ["crm.objects.contacts.write"],
        path,
      });
      const { crm: jobs } = await crm.join("broken@crm.example");
      await expect.poll(() => statuses(jobs), WAIT).toEqual(["dead", "succeeded"]);
      await page
        .getByRole("link", { name: /MISSING_SCOPES|scopes/ })
        .first()
        .click();
      await page.getByRole("button", { name: "Dry run" }).click();
      await page.getByRole("button", { name: "Replay 1 job …" }).click();
      await answer(page, "Replay 1 job", { "Reason, for the audit": REASON });
      await page.getByText("1 succeeded").waitFor();
      expect(await statuses(jobs)).toEqual(["succeeded", "succeeded"]);
      expect(crm.properties("broken@crm.example")).toMatchObject({ membership_tier: "basic" });
    },
    TEST_MS,
  );

  it(
    "runs a simulation that staff start on its page, to its end",
    async (test) => {
      const page = await open(test, "staff", "simulations");
      const plan = { id: "walk", records: RECORDS, durationMs: 1_000, scenario: { deals: true } };
      const planned = await crm.office.post("staff", "/api/simulations", plan);
      expect(planned).toMatchObject({ status: 200, body: { status: "created" } });
      await page.getByRole("link", { name: "walk", exact: true }).click();
      await page.getByText("It was not started yet.").waitFor();
      await page.getByRole("button", { name: "Start", exact: true }).click();
      await answer(page, "Start it");
      await page.getByText("completed", { exact: true }).waitFor();
      await page.getByText(`${RECORDS} of ${RECORDS}`, { exact: true }).first().waitFor();
      expect(crm.double.objects("deals")).toHaveLength(RECORDS);
    },
    TEST_MS,
  );

  it(
    "tells an admin in the audit who did what, and why",
    async (test) => {
      const page = await open(test, "admin", "audit");
      const rows = page.getByRole("table", { name: "Audit entries" }).locator("tbody tr");
      const texts = async () => (await rows.allTextContents()).join("\n");
      // It reads itself again, and an entry may be on its way.
      await expect.poll(texts, WAIT).toContain(REASON);
      const replayed = rows.filter({ hasText: REASON }).first();
      expect(await replayed.textContent()).toContain("staff@backoffice.example");
      expect(await texts()).toMatch(/start simulation/);
    },
    TEST_MS,
  );

  /** Sorted: which of them met the fault is nobody's choice. */
  async function statuses(jobs: readonly CrmJob[]): Promise<string[]> {
    const found = await Promise.all(jobs.map(({ jobId }) => crm.office.hf.job(jobId)));
    return found.map((job) => job?.status ?? "gone").toSorted();
  }

  it("none of it said an error", (test) => {
    onlyInFull(test);
    test.skip(!browser, "no Chromium here");
    expect([...visits.values()].flatMap(({ wrongs }) => wrongs)).toEqual([]);
  });
});

/** On a page of its own: the cookie is for all pages of the context. */
async function logIn(context: BrowserContext, url: string, who: Who): Promise<void> {
  const user = SAMPLE_USERS.find(({ email }) => email.startsWith(`${who}@`));
  const page = await context.newPage();
  const fill = async (password: string) => {
    await page.getByLabel("E-mail").fill(user?.email ?? "");
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Log in" }).click();
  };
  await page.goto(`${url}/login`);
  await fill("a wrong one");
  await page.getByRole("alert").getByText("e-mail or password is wrong").waitFor();
  await fill(user?.password ?? "");
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  await page.close();
}
