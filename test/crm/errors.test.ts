/** docs/reference/errors.md tells the truth about the errors of the CRM package. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { HubSpotError, RestError } from "@holdfast/crm";
import { HoldfastError } from "holdfast";

describe("the errors of the CRM package", () => {
  it.each([HubSpotError, RestError])("%o is on the page, with its code", async (Class) => {
    const page = await readFile(new URL("../../docs/reference/errors.md", import.meta.url), "utf8");
    const error = new Class("no", { status: 503 });
    expect(error).toBeInstanceOf(HoldfastError);
    expect(page).toMatch(new RegExp(`\\| \`${Class.name}\` +\\| \`${error.code}\``));
    expect([error.isRetryable, new Class("no", { status: 400 }).isRetryable]).toEqual([
      true,
      false,
    ]);
    expect(new Class("no", { status: null }).isRetryable).toBe(true);
  });
});
