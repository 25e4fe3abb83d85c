/** The pages of what is mounted: a file is imported, a simulation is steered, and nobody sees what is not theirs. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { answer } from "./answer.ts";
import { FILES } from "./batteries.ts";
import { visit } from "./browser.ts";
import { Stage } from "./stage.ts";

const REASON = "Reason, for the audit";
const OPTIONAL = "Reason, for the audit (may be left out)";

describe("what is mounted", () => {
  const stage = new Stage();

  it("a file is tried, then imported, and its failed row can be taken along", async (test) => {
    const page = await stage.open(test, "imports");
    const { customers } = stage.house.batteries;
    const before = customers();
    const text = "email,name\nnew@example.com,New\nno address,None\n";
    const chosen = { name: FILES[2], mimeType: "text/csv", buffer: Buffer.from(text) };
    await page.getByLabel("File to import").setInputFiles(chosen);
    await page.getByText("Imported as customers").waitFor();
    await page.getByRole("button", { name: "Dry run" }).click();
    await page.getByText("2 rows: 1 would be inserted, 1 failed").waitFor();
    expect(customers()).toBe(before);

    await page.goBack();
    await page.getByLabel("File to import").setInputFiles(chosen);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("2 rows: 1 inserted, 1 failed").waitFor();
    expect(customers()).toBe(before + 1);
    const rows = page.getByRole("table", { name: "Failed rows" }).locator("tbody tr");
    await expect.poll(() => rows.allTextContents()).toEqual([expect.stringMatching(/^3email/)]);
    const downloading = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download CSV" }).click();
    const file = await (await downloading).path();
    expect(await readFile(file, "utf8")).toMatch(/^\uFEFF?row,reason\r\n3,email/);
    expect(stage.admin.wrongs).toEqual([]);
  });

  it("a file that was imported already leads to that import; one without a type is not sent", async (test) => {
    const page = await stage.open(test, "imports");
    const again = "email,name\nnew@example.com,New\nno address,None\n";
    const chosen = { mimeType: "text/csv", buffer: Buffer.from(again) };
    await page.getByLabel("File to import").setInputFiles({ ...chosen, name: FILES[2] });
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByRole("link", { name: "Show that import" }).click();
    await page.getByRole("heading", { name: FILES[2] }).waitFor();
    await stage.open(test, "imports");
    await page.getByLabel("File to import").setInputFiles({ ...chosen, name: "Unknown.csv" });
    await page.getByText("The manifest does not name Unknown.csv").waitFor();
    expect(await page.getByRole("button", { name: "Dry run" }).isDisabled()).toBe(true);
    // The browser says of the 409 that it came.
    stage.admin.wrongs.length = 0;
  });

  it("a simulation is paused, goes on, and another is aborted", async (test) => {
    const page = await stage.open(test, "simulations/spring");
    const status = async (id: string) => (await stage.house.batteries.pacing.get(id))?.status;
    await page.getByRole("button", { name: "Pause" }).click();
    await answer(page, "Pause it", { [OPTIONAL]: "the other side asks" });
    await page.getByText("Its reason: “the other side asks”.").waitFor();
    expect(await status("spring")).toBe("paused");
    await page.getByRole("button", { name: "Resume" }).click();
    await answer(page, "Resume it");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    expect(await status("spring")).toBe("running");
    await stage.open(test, "simulations/autumn");
    await page.getByRole("button", { name: "Abort" }).click();
    await answer(page, "Abort it", { [REASON]: "not this year" });
    await page.getByText("It was aborted, for good.").waitFor();
    expect(await status("autumn")).toBe("aborted");
    expect(await page.getByRole("button", { name: /^(Start|Pause|Resume|Abort)$/ }).count()).toBe(
      0,
    );
  });

  it("its planned and actual records are there as numbers, too", async (test) => {
    const page = await stage.open(test, "simulations/spring");
    await page.getByRole("button", { name: "table", exact: true }).click();
    const table = page.getByRole("table", { name: "Does it keep to its plan?" });
    const { planned } = await stage.house.batteries.pacing.curve("spring");
    const shown = await table.locator("tbody tr td:nth-child(2)").allTextContents();
    expect(shown.reverse().map(Number)).toEqual(planned);
  });

  it("an admin turns a knob, and clears it", async (test) => {
    const page = await stage.open(test, "simulations/spring");
    const config = () => stage.house.batteries.pacing.config("spring");
    const row = page.getByRole("row").filter({ hasText: "after its record" }).first();
    await row.getByRole("button", { name: "Change" }).click();
    await page.getByRole("dialog").getByLabel("Probability").fill("0.75");
    await answer(page, "Change it");
    await page.getByText("0.75, by hand").waitFor();
    expect(await config()).toMatchObject({
      ...{ overrides: { probabilities: { note: 0.75 }, budgets: { call: 30 } } },
    });
    await page.getByRole("button", { name: "Clear" }).click();
    await answer(page, "Clear it");
    await page.getByText("0.75, by hand").waitFor({ state: "detached" });
    expect(await config()).toMatchObject({
      overrides: {},
      params: { probabilities: { note: 0.5 } },
    });
    const { entries } = await stage.house.hf.ledger({ kind: "audit", limit: 20 });
    const actions = entries.map(({ body }) => (body as { readonly action: string }).action);
    for (const action of ["set simulation config", "clear simulation config"]) {
      expect(actions).toContain(action);
    }
  });

  it("its dead jobs are replayed as an operation", async (test) => {
    const page = await stage.open(test, "simulations/spring");
    const { total } = await stage.house.batteries.pacing.deadLetters("spring");
    await page.getByRole("button", { name: "Replay …" }).click();
    await page.getByLabel(/^Reason/).fill("the contacts were merged");
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Replay \d+ jobs?$/ })
      .click();
    await page.getByText("The replay has begun.").waitFor();
    const [operation] = await stage.house.hf.operations.list();
    expect(operation).toMatchObject({ reason: "the contacts were merged", action: "retry" });
    expect(operation?.of).toBeGreaterThanOrEqual(total);
  });

  it("none of it said an error", (test) => {
    stage.need(test);
    expect(stage.admin.wrongs).toEqual([]);
  });

  it("a viewer is offered none of it, and a token of other queues neither page", async (test) => {
    stage.need(test);
    const viewer = await visit(stage.browser, {
      url: stage.house.url,
      token: await stage.house.token("viewer"),
    });
    for (const place of ["imports", "simulations", "simulations/spring"]) {
      const page = await stage.open(test, place, viewer);
      const offered = page.locator("main").getByRole("button", {
        name: /^(Dry run|Import|Choose|Start|Pause|Resume|Abort|Change|Clear|Replay)/,
      });
      expect(await offered.allTextContents(), place).toEqual([]);
    }
    expect(viewer.wrongs).toEqual([]);
    await viewer.close();
    const token = await stage.house.token("operator", ["mail"]);
    const scoped = await visit(stage.browser, { url: stage.house.url, token });
    const links = await scoped.page.locator("nav.nav a").allTextContents();
    expect(links.join()).not.toMatch(/Imports|Simulations/);
    await (
      await stage.open(test, "imports", scoped)
    )
      .getByText("This server has no imports.")
      .waitFor();
    expect(scoped.wrongs).toEqual([]);
    await scoped.close();
  });
});
