/** What is done is what was meant: no other jobs, no more of them, and not twice. */
import type { Route } from "playwright-core";
import { describe, expect, it } from "vitest";
import { fill } from "./answer.ts";
import { Stage } from "./stage.ts";

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
});
