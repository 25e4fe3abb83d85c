/** `holdfast crm check` and `holdfast crm ensure`, as a person types them, against the double. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hubspotDouble, type HubSpotDouble } from "@holdfast/crm/double";
import { Terminal } from "../cli/terminal.ts";

describe("holdfast crm", () => {
  let terminal: Terminal;
  let double: HubSpotDouble;
  beforeEach(async () => {
    terminal = await Terminal.open();
    double = await hubspotDouble();
  });
  afterEach(async () => {
    await terminal.close();
    await double.close();
  });
  const run = (verb: string, more: Readonly<Record<string, string>> = {}) =>
    terminal.run(["crm", verb], {
      env: { HUBSPOT_TOKEN: double.token, HUBSPOT_URL: double.url, ...more },
    });

  it("check names what is missing and changes nothing, ensure makes it, and then all is well", async () => {
    const before = await run("check");
    expect(before.code).toBe(1);
    expect(before.out).toContain("billing_provider");
    expect(double.portal.properties("contacts").has("billing_provider")).toBe(false);
    const ensured = await run("ensure");
    expect(ensured).toMatchObject({ code: 0, err: "" });
    expect(ensured.out).toMatch(/contacts\.billing_provider made/);
    expect((await run("ensure")).out).toMatch(/contacts\.billing_provider was there/);
    const after = await run("check");
    expect(after, after.out).toMatchObject({ code: 0 });
    for (const word of ["token", "scopes", "limits", "properties"]) {
      expect(after.out).toContain(`✓ ${word}`);
    }
  });

  it("check says that a token is wrong or not set, and never prints it", async () => {
    const wrong = await run("check", { HUBSPOT_TOKEN: "pat-eu1-wrong-token" });
    expect(wrong.code).toBe(1);
    expect(wrong.out + wrong.err).not.toContain("wrong-token");
    const none = await run("check", { HUBSPOT_TOKEN: "" });
    expect(none).toMatchObject({
      code: 2,
      err: expect.stringContaining("HUBSPOT_TOKEN") as string,
    });
  });
});
