/** What is done is what was meant: no other jobs, no more of them, and not twice. */
import type { Route } from "playwright-core";
import { describe, expect, it } from "vitest";
import { answer, fill } from "./answer.ts";
import { ADMIN_TOKEN } from "../server/served.ts";
import { Stage } from "./stage.ts";

const REASON = "Reason, for the audit";

describe("what was meant", () => {
  const stage = new Stage();

  it("a replay is of the fault in the address, also where the list of faults has it no more", async (test) => {
    stage.need(test);
    const { items } = (await stage.house.data("GET", "/api/v1/dead-letters/groups")) as {
      items: { fingerprint: string; type: string; count: number }[];
    };
    const fault = items.find(({ type }) => type === "crm.sync");
    await stage.house.hf.deadLetters.resolve(fault?.fingerprint ?? "", { by: "ops", reason: "x" });
    const page = await stage.open(test, `dead-letters?fault=${fault?.fingerprint}`);
    await expect
      .poll(() =>
        page.getByRole("table", { name: "Jobs", exact: true }).locator("tbody tr").count(),
      )
      .toBe(fault?.count);
    await page.getByRole("button", { name: "Dry run" }).click();
    await page.getByText(`Dry run: retry would touch ${fault?.count} jobs`).waitFor();
    await stage.house.hf.deadLetters.reopen(fault?.fingerprint ?? "", { by: "ops" });
  });

  it("a dry run that comes late is not shown for what was chosen since", async (test) => {
    const page = await stage.open(test, "dead-letters");
    let held: Route | null = null;
    await page.route("**/dead-letters/plan", (route) => void (held = route));
    await page.getByRole("button", { name: "Dry run" }).click();
    await expect.poll(() => held).not.toBeNull();
    await page.getByLabel("At most").fill("1");
    const answered = page.waitForResponse("**/dead-letters/plan");
    await (held as unknown as Route).continue();
    await answered;
    await page.getByRole("button", { name: "Dry run" }).waitFor();
    expect(await page.getByText("Dry run: retry would touch").count()).toBe(0);
    await page.unroute("**/dead-letters/plan");
    await page.getByRole("button", { name: "Dry run" }).click();
    await page.getByText("Dry run: retry would touch 1 job").waitFor();
  });

  it("nothing is done to all that fit while a word of it was not understood", async (test) => {
    const page = await stage.open(test, "jobs?q=status%3Adead+grop%3Atenant-7");
    await page.getByText('There is no "grop:"').waitFor();
    await page.getByText("mend what was not understood").waitFor();
    expect(await page.getByRole("button", { name: "Remove all …" }).count()).toBe(0);
    await stage.open(test, "jobs?q=status%3Adead+group%3Atenant-7");
    await page.getByRole("button", { name: "Remove all …" }).waitFor();
  });

  it("two hours ago are counted from each look, not from when the page was opened", async (test) => {
    const page = await stage.open(test, "jobs?q=from%3A2h");
    const from = async () => {
      const request = await page.waitForRequest(/api\/v1\/jobs\?/);
      return Date.parse(new URL(request.url()).searchParams.get("from") ?? "");
    };
    const before = await from();
    // It looks again by itself, after some seconds of this test as after a night.
    expect(await from()).toBeGreaterThan(before);
  });

  it("what is selected and not shown any more is left alone", async (test) => {
    const page = await stage.open(test, "jobs?q=queue%3Acrm");
    const [first = "", second = ""] = await page.locator("main tbody tr .id").allTextContents();
    for (const id of [first, second]) await page.getByLabel(`Select ${id}`).check();
    await page.getByText("2 jobs selected").waitFor();
    await stage.house.hf.remove(first, { by: "ops", reason: "to see it" });
    await page.getByRole("button", { name: "1 may have changed" }).click();
    await page.getByText("1 job selected").waitFor();
    expect(await page.getByText(first).count()).toBe(0);
  });

  it("a job whose answer got lost is one job when the form is sent again", async (test) => {
    const page = await stage.open(test, "jobs");
    const count = async () => (await stage.house.hf.jobs({ tag: "by-hand" })).jobs.length;
    await page.getByRole("button", { name: "Enqueue a job" }).click();
    await page.getByRole("dialog").getByLabel("Type").selectOption("email.send");
    await answer(page, "Go on");
    // The server does it; what it says does not come through.
    await page.route("**/api/v1/jobs", async (route) => {
      const headers = { ...(await route.request().allHeaders()), "sec-fetch-site": "same-origin" };
      expect((await route.fetch({ headers })).status()).toBe(201);
      await route.abort();
    });
    const filled = { "Tags, with blanks between them": "by-hand" };
    await (await fill(page, "Enqueue", filled)).click();
    await page.getByText("It may have done it all the same").waitFor();
    await page.unroute("**/api/v1/jobs");
    await answer(page, "Enqueue");
    await page.getByText("There is such a job already.").waitFor();
    expect(await count()).toBe(1);
    stage.admin.wrongs.length = 0;
  });

  it("a schedule that the store refuses comes back as it was filled in; a name is not taken from another", async (test) => {
    const page = await stage.open(test, "schedules");
    await page.getByRole("button", { name: "New schedule" }).click();
    const filled = {
      ...{ Name: "weekly-report", "Type of its job": "report.make", [REASON]: "x" },
      "Cron (empty: every so often)": "1 * * * *",
    };
    await (await fill(page, "Show its ticks", filled)).click();
    await page.getByRole("alert").filter({ hasText: "weekly-report already" }).waitFor();
    const refused = { Name: "nightly-2", "Queue (empty: the type's own)": "no queue" };
    await answer(page, "Show its ticks", refused);
    await (await fill(page, "Store it", {})).click();
    await page.getByRole("dialog").getByRole("alert").waitFor();
    expect(await page.getByRole("dialog").getByLabel("Name").inputValue()).toBe("nightly-2");
    await answer(page, "Show its ticks", { "Queue (empty: the type's own)": "" });
    await answer(page, "Store it");
    await page.getByRole("heading", { name: "nightly-2" }).waitFor();
    expect(await stage.house.hf.schedules.get("weekly-report")).toMatchObject({
      cron: "0 9 * * 1",
    });
    stage.admin.wrongs.length = 0;
  });

  it("a new gate does not take the place of another", async (test) => {
    const page = await stage.open(test, "gates");
    const before = await stage.house.hf.gates.get("hubspot");
    await page.getByRole("button", { name: "New gate" }).click();
    await (await fill(page, "Make it", { Name: "hubspot", [REASON]: "x" })).click();
    await page.getByRole("alert").filter({ hasText: "hubspot already" }).waitFor();
    await page.getByRole("button", { name: "Not now" }).click();
    expect(await stage.house.hf.gates.get("hubspot")).toMatchObject({ rate: before?.rate });
  });

  it("a replay of a simulation takes no more jobs than its question named", async (test) => {
    const page = await stage.open(test, "simulations/spring");
    const sent: object[] = [];
    await page.route("**/dlq/replay", async (route) => {
      sent.push(route.request().postDataJSON() as object);
      await route.fulfill({ json: { operation: null, count: 3, byCategory: {} } });
    });
    await page.getByRole("button", { name: "Replay …" }).click();
    await answer(page, "Replay 3 jobs", { [REASON]: "the contacts were merged" });
    await page.getByText("The replay has begun.").waitFor();
    await page.unroute("**/dlq/replay");
    expect(sent).toMatchObject([{ dryRun: true }, { dryRun: false, limit: 3 }]);
  });

  it("a question is not asked again of who logs in next", async (test) => {
    const page = await stage.open(test, "queues/mail");
    await page.getByRole("button", { name: "Pause" }).first().click();
    await page.getByRole("dialog").waitFor();
    await page.route("**/api/v1/queues/mail", (route) => route.fulfill({ status: 401, json: {} }));
    await page.getByText("Your session is over").waitFor();
    await page.unroute("**/api/v1/queues/mail");
    await page.getByLabel("Token").fill(ADMIN_TOKEN);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "mail", exact: true }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    stage.admin.wrongs.length = 0;
  });

  it("who is told to be logged out is logged out", async (test) => {
    const page = await stage.open(test, "overview");
    await page.route("**/api/v1/session", (route) => route.abort());
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByText("The server does not answer.").waitFor();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.unroute("**/api/v1/session");
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByText("You are logged out.").waitFor();
    await page.reload();
    await page.getByLabel("Token").waitFor();
  });
});
