import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { envPage } from "../../scripts/env-page.ts";

it("the page of settings says what the code reads", async () => {
  const page = new URL("../../docs/reference/env.md", import.meta.url);
  expect(await readFile(page, "utf8")).toBe(await envPage());
});
