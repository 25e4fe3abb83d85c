/** Names, payloads, errors, reasons and logs that would do something, if a page took them for more than text. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { HOSTILE } from "./house.ts";
import { Stage } from "./stage.ts";
import { placesOf, settled } from "./walk.ts";

const [IMAGE = ""] = HOSTILE;
/** Where a part of them is seen without a click. */
const SHOWN = [
  ...["overview", "dead-letters", "job-hostile", "job-held", "jobs-dead", "queues", "queue-held"],
  ...["operations", "failures", "audit", "tokens", "simulation-summer"],
];

describe("hostile texts", () => {
  const stage = new Stage();

  /** What they would have made of the page. */
  const made = (page: Page) =>
    page
      .locator("main :is(img, script, iframe, svg[onload], [onerror], a[href^='javascript:' i])")
      .count();

  it(
    "are text on every page, with everything opened that opens",
    { timeout: 300_000 },
    async (test) => {
      stage.need(test);
      const { page, wrongs } = stage.admin;
      const seen: string[] = [];
      const places = await placesOf(page, stage.house);
      places.set("schedule", "#/schedules/weekly-report");
      for (const [name, link] of places) {
        await page.goto(`${stage.house.url}/${link}`);
        await settled(page);
        await page.evaluate(() => {
          for (const one of document.querySelectorAll("details")) one.open = true;
        });
        expect(await made(page), name).toBe(0);
        const text = await page.locator("main").innerText();
        if (HOSTILE.some((one) => text.includes(one.slice(0, 20)))) seen.push(name);
        expect(wrongs, name).toEqual([]);
      }
      expect(seen).toEqual(expect.arrayContaining(SHOWN));
    },
  );

  it("are text in a dialog, a toast, the title and the search", async (test) => {
    stage.need(test);
    const { page, wrongs } = stage.admin;
    await page.goto(`${stage.house.url}/#/jobs/${stage.house.jobs.hostile}`);
    await settled(page);
    await page.getByRole("button", { name: "Edit and retry" }).click();
    const payload = page.getByRole("dialog").getByLabel("Payload, as JSON");
    expect(await payload.inputValue()).toContain("<img src=x");
    await page.keyboard.press("Escape");
    await page.goto(`${stage.house.url}/#/queues/${encodeURIComponent(IMAGE)}`);
    await page.getByRole("alert").first().waitFor();
    expect(await page.title()).toContain("<img src=x");
    await page.goto(
      `${stage.house.url}/#/jobs?q=${encodeURIComponent(`error:"${IMAGE.replaceAll('"', "")}"`)}`,
    );
    await settled(page);
    expect(await made(page)).toBe(0);
    // No queue can have such a name: that is told with 422, which the browser notes.
    expect(wrongs.filter((wrong) => !wrong.includes("422"))).toEqual([]);
    wrongs.length = 0;
  });

  it("are text as the name of a file to import", async (test) => {
    stage.need(test);
    const { page, wrongs } = stage.admin;
    await page.goto(`${stage.house.url}/#/imports`);
    await settled(page);
    const name = `<img src=x onerror=alert(1)>.csv`;
    const file = { name, mimeType: "text/csv", buffer: Buffer.from("email,name\n") };
    await page.getByLabel("File to import").setInputFiles(file);
    await page.getByText(`The manifest does not name ${name}`).waitFor();
    expect(await made(page)).toBe(0);
    expect(wrongs).toEqual([]);
  });
});
