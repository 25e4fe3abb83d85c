/** One job is edited and retried; what a filter finds becomes a file. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { answer, fill } from "./answer.ts";
import { Stage } from "./stage.ts";

describe("jobs in the browser", () => {
  const stage = new Stage();

  async function saved(page: Page, kind: "CSV" | "JSON"): Promise<string> {
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: kind, exact: true }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(new RegExp(`^jobs-.*\\.${kind.toLowerCase()}$`));
    return readFile(await download.path(), "utf8");
  }

  it("what a filter finds is exported as CSV and as JSON", async (test) => {
    const page = await stage.open(test, "jobs?q=type%3Acrm.*+status%3Adead");
    await expect.poll(() => page.locator("main tbody tr").count()).toBe(9);
    const csv = await saved(page, "CSV");
    const [head, ...rows] = csv.trim().split(/\r?\n/);
    expect(head).toMatch(/id,type,queue,group,status/);
    expect(rows).toHaveLength(9);
    for (const row of rows) expect(row).toMatch(/crm\.sync,crm,.*dead.*ECONNREFUSED/);
    expect(csv).not.toContain("ssn");
    const jobs = JSON.parse(await saved(page, "JSON")) as { id: string; payload: object }[];
    const { jobs: stored } = await stage.house.hf.jobs({ type: "crm.sync", status: "dead" });
    expect(jobs.map(({ id }) => id).sort()).toEqual(stored.map(({ id }) => id).sort());
  });

  it("a secret stays hidden in a file, too", async (test) => {
    const page = await stage.open(test, () => `jobs?q=id%3A${stage.house.jobs.done}`);
    await expect.poll(() => page.locator("main tbody tr").count()).toBe(1);
    const [job] = JSON.parse(await saved(page, "JSON")) as { payload: Record<string, string> }[];
    expect(job?.payload["to"]).toBe("a@example.com");
    expect(job?.payload["apiToken"]).not.toBe("hidden");
  });

  it("a dead job is retried with an edited payload, which takes JSON and a reason", async (test) => {
    stage.need(test);
    const { dead } = stage.house.jobs;
    const page = await stage.open(test, `jobs/${dead}`);
    await page.getByRole("button", { name: "Edit and retry" }).click();
    const area = page.getByRole("dialog").getByLabel("Payload, as JSON");
    expect(JSON.parse(await area.inputValue())).toEqual({ amount: 1, ssn: "hidden" });
    const reason = { "Reason, for the audit": "the amount was wrong" };
    await (
      await fill(page, "Retry with this payload", { "Payload, as JSON": "{ no", ...reason })
    ).click();
    await page.getByRole("dialog").getByRole("alert").waitFor();
    expect((await stage.house.hf.job(dead))?.status).toBe("dead");
    const edited = '{"amount":2,"ssn":"hidden"}';
    await answer(page, "Retry with this payload", { "Payload, as JSON": edited });
    await page.getByText("It is queued again, with this payload.").waitFor();
    expect((await stage.house.hf.job(dead))?.payload).toEqual({ amount: 2, ssn: "hidden" });
    const { entries } = await stage.house.hf.ledger({ kind: "audit", jobId: dead, limit: 20 });
    const notes = entries.map(({ body }) => body as { action: string; reason: string });
    expect(notes).toContainEqual(
      expect.objectContaining({ action: "retry", reason: "the amount was wrong" }),
    );
    await page.getByText("Retried by").waitFor();
  });

  it("none of it said an error", (test) => {
    stage.need(test);
    expect(stage.admin.wrongs).toEqual([]);
  });
});
