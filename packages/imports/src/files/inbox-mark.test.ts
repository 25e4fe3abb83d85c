import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { testHoldfast } from "holdfast/testing";
import { isSharedInbox } from "./inbox-mark.ts";

it("a mark that a killed process left empty is written, not shared by every such folder", async () => {
  const { hf } = testHoldfast();
  const inbox = mkdtempSync(join(tmpdir(), "holdfast-mark-"));
  writeFileSync(join(inbox, ".holdfast-inbox"), "");
  const options = { hf, inbox, queue: "imports", jobTypes: [] };
  expect(await isSharedInbox(options)).toBe(true);
  expect(readFileSync(join(inbox, ".holdfast-inbox"), "utf8")).toMatch(/^[0-9a-f-]{36}$/);
  expect(await isSharedInbox(options)).toBe(true);
  rmSync(inbox, { recursive: true });
  await hf.close();
});
