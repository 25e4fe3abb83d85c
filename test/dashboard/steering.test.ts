/** What an admin does with a button is what the store has afterwards, and what the page shows without a reload. */
import { Tokens } from "@holdfast/server";
import { describe, expect, it } from "vitest";
import { answer, fill } from "./answer.ts";
import { Stage } from "./stage.ts";

/** A worker obeys within five seconds, and says so within five more. */
const OBEYS = { timeout: 20_000, interval: 200 };

describe("what is steered from a page", () => {
  const stage = new Stage();

  it("a schedule is paused, goes on, and runs now", async (test) => {
    const page = await stage.open(test, "schedules/weekly-report");
    await page.getByRole("button", { name: "Pause" }).click();
    await answer(page, "Pause it", { "Reason, for the audit (may be left out)": "month end" });
    await page.getByText("It was paused by admin token: month end.").waitFor();
    const paused = await stage.house.hf.schedules.get("weekly-report");
    expect(paused).toMatchObject({ enabled: false, paused: { reason: "month end" } });

    await page.getByRole("button", { name: "Resume" }).click();
    await answer(page, "Resume it");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    expect(await stage.house.hf.schedules.get("weekly-report")).toMatchObject({ enabled: true });

    const rows = page.getByRole("table", { name: "Ticks" }).locator("tbody tr");
    const before = await rows.count();
    await page.getByRole("button", { name: "Run now" }).click();
    await answer(page, "Run now");
    await expect.poll(() => rows.count(), { timeout: 3_000 }).toBe(before + 1);
    const { runs } = await stage.house.hf.schedules.runs("weekly-report");
    expect(runs).toHaveLength(before + 1);
    expect(runs[0]).toMatchObject({ isManual: true });
    expect(await stage.house.hf.job(runs[0]?.job ?? "")).toMatchObject({ type: "report.make" });
  });

  it("a gate decides by itself again, and is forced both ways", async (test) => {
    const page = await stage.open(test, "gates");
    const row = page.getByRole("row").filter({ hasText: "hubspot" });
    const gate = () => stage.house.hf.gates.get("hubspot");
    expect(await gate()).toMatchObject({ forced: "open" });
    await row.getByRole("button", { name: "Let it decide" }).click();
    await answer(page, "Let it decide");
    await row.getByRole("button", { name: "Force" }).waitFor();
    expect(await gate()).toMatchObject({ forced: "auto", state: "closed" });

    for (const [words, state] of [
      ["holds everything back", "open"],
      ["lets everything pass that its rate allows", "closed"],
    ] as const) {
      await row.getByRole("button", { name: "Force" }).click();
      await page.getByRole("dialog").getByRole("combobox").selectOption(words);
      await answer(page, "Force it", { "Reason, for the audit": "HubSpot is being moved" });
      await row.getByText("forced", { exact: true }).waitFor();
      expect(await gate()).toMatchObject({ forced: state, state });
      await row.getByRole("button", { name: "Let it decide" }).click();
      await answer(page, "Let it decide");
      await row.getByRole("button", { name: "Force" }).waitFor();
    }
    expect(await gate()).toMatchObject({ forced: "auto" });
  });

  it("a gate that is changed keeps what its form does not change", async (test) => {
    const page = await stage.open(test, "gates");
    const row = page.getByRole("row").filter({ hasText: "hubspot" });
    const before = await stage.house.hf.gates.get("hubspot");
    await row.getByRole("button", { name: "Change" }).click();
    await page.getByLabel("Starts (empty: no rate)").fill("90");
    await answer(page, "Change it", { "Reason, for the audit": "a larger plan" });
    await row.getByText("90 in 10 s").waitFor();
    expect(await stage.house.hf.gates.get("hubspot")).toMatchObject({
      ...{ targets: before?.targets, breaker: before?.breaker, cooldown: before?.cooldown },
      rate: [{ ...before?.rate[0], limit: 90 }],
    });
  });

  it("a worker is quieted, and leases again", { timeout: 60_000 }, async (test) => {
    const page = await stage.open(test, "workers");
    // One of three in this process: the one that takes mail.
    const row = page.getByRole("row").filter({ hasText: "mail, imports" });
    const isQuiet = async () =>
      (await stage.house.hf.workers.list()).find(({ queues }) => queues.includes("mail"))?.isQuiet;
    expect(await isQuiet()).toBe(false);
    await row.getByRole("button", { name: "Quiet" }).click();
    await answer(page, "Quiet it");
    await page.getByText("It is quiet: what it runs goes on.").waitFor();
    await expect.poll(isQuiet, OBEYS).toBe(true);
    await row.getByRole("button", { name: "Resume" }).click();
    await answer(page, "Resume it");
    await expect.poll(isQuiet, OBEYS).toBe(false);
  });

  it("a token is made as it was asked for, and is of no use once it is removed", async (test) => {
    const page = await stage.open(test, "tokens");
    await page.getByRole("button", { name: "New token" }).click();
    await page.getByRole("dialog").getByRole("combobox").selectOption("operator");
    await answer(page, "Make it", {
      ...{ "For whom, or what": "night shift", "Ends after (empty: never)": "12 h" },
      "Queues, with blanks between them (empty: all)": "mail crm",
    });
    const secret = await page.getByRole("status").locator("code").textContent();
    const row = page.getByRole("row").filter({ hasText: "night shift" });
    await row.waitFor();
    const kept = async () =>
      (await new Tokens(stage.house.hf.tools.ledgerRecords, Date.now).list()).find(
        ({ name }) => name === "night shift",
      );
    const made = { role: "operator", queues: ["mail", "crm"] };
    const token = await kept();
    expect(token).toMatchObject(made);
    const lasts = Date.parse(token?.expiresAt ?? "") - Date.parse(token?.createdAt ?? "");
    expect(Math.round(lasts / 60_000)).toBe(12 * 60);
    const { json } = await stage.house.call("GET", "/api/v1/me", { token: secret });
    expect(json.data).toMatchObject(made);
    expect(await noted("create token")).toMatchObject({ state: "done" });

    await row.getByRole("button", { name: "Remove" }).click();
    await answer(page, "Remove it");
    await row.waitFor({ state: "detached" });
    expect(await kept()).toBeUndefined();
    expect(await stage.house.call("GET", "/api/v1/me", { token: secret })).toMatchObject({
      status: 401,
    });
    expect(await noted("remove token")).toMatchObject({ state: "done" });
  });

  it("a lock is released, with who and why", async (test) => {
    const page = await stage.open(test, "locks");
    const scopes = async () => (await stage.house.hf.locks.list()).locks.map(({ scope }) => scope);
    expect(await scopes()).toContain("2026-10");
    const row = page.getByRole("row").filter({ hasText: "2026-10" });
    await row.getByRole("button", { name: "Release" }).click();
    await answer(page, "Release it", { "Reason, for the audit": "made by hand" });
    await row.waitFor({ state: "detached" });
    expect(await scopes()).not.toContain("2026-10");
    expect(await noted("release lock")).toMatchObject({ reason: "made by hand" });
  });

  it("what is typed in a filter is not undone by a list that reads itself again", async (test) => {
    const page = await stage.open(test, "failures");
    const field = page.getByLabel("Queue");
    await field.pressSequentially("crm");
    await page.waitForResponse(/\/api\/v1\/failures/);
    expect(await field.inputValue()).toBe("crm");
    await field.press("Enter");
    await expect.poll(() => page.locator("main tbody tr").count()).toBe(9);
    expect(page.url()).toContain("queue=crm");
  });

  it("a job's failures are its own", async (test) => {
    const page = await stage.open(test, () => `jobs/${stage.house.jobs.dead}`);
    await page.getByRole("link", { name: "on record" }).click();
    await expect.poll(() => page.locator("main tbody tr").count()).toBe(1);
    expect(
      (await stage.house.hf.failures.list({ jobId: stage.house.jobs.dead })).failures,
    ).toHaveLength(1);
  });

  it("a replay with a bound that is no number is not begun", async (test) => {
    const page = await stage.open(test, "dead-letters");
    await page.getByLabel("At most").fill("1,000");
    await page.getByText("Numbers are written in digits alone").waitFor();
    expect(await page.getByRole("button", { name: "Dry run" }).isDisabled()).toBe(true);
  });

  it("none of it said an error", (test) => {
    stage.need(test);
    expect(stage.admin.wrongs).toEqual([]);
  });

  it("a schedule that is refused comes back as it was filled in", async (test) => {
    const page = await stage.open(test, "schedules");
    await page.getByRole("button", { name: "New schedule" }).click();
    const filled = {
      Name: "nightly",
      "Type of its job": "report.make",
      "Reason, for the audit": "x",
    };
    const wrong = { ...filled, "Cron (empty: every so often)": "61 * * * *" };
    await (await fill(page, "Show its ticks", wrong)).click();
    await page.getByRole("alert").filter({ hasText: "61" }).waitFor();
    for (const [label, value] of Object.entries(filled)) {
      expect(await page.getByRole("dialog").getByLabel(label).inputValue()).toBe(value);
    }
    await answer(page, "Show its ticks", { "Cron (empty: every so often)": "1 * * * *" });
    await answer(page, "Store it");
    await page.getByRole("heading", { name: "nightly" }).waitFor();
    expect(await stage.house.hf.schedules.get("nightly")).toMatchObject({ cron: "1 * * * *" });
  });

  /** The newest entry of the audit that is about this. */
  async function noted(action: string) {
    const { entries } = await stage.house.hf.ledger({ kind: "audit", limit: 50 });
    return entries
      .map(({ body, state }) => ({ ...(body as { readonly action: string }), state }))
      .find((entry) => entry.action === action);
  }
});
