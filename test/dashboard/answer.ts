/** Answers the one dialog that asks before something is done. */
import type { Page } from "playwright-core";

export async function answer(
  page: Page,
  verb: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<void> {
  const button = await fill(page, verb, fields);
  await button.click();
  await button.waitFor({ state: "detached" });
}

export async function fill(page: Page, verb: string, fields: Readonly<Record<string, string>>) {
  const dialog = page.getByRole("dialog");
  for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value);
  return dialog.getByRole("button", { name: verb, exact: true });
}
