/** The client, and system 4's table "HubSpot API Rate Limit Handling". */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkHubSpot, ensureHubSpot, HubSpotClient, HubSpotError } from "@holdfast/crm";
import { hubspotDouble, type HubSpotDouble } from "@holdfast/crm/double";
import { InvalidOptionError } from "holdfast";

describe("the client of HubSpot", () => {
  let double: HubSpotDouble;
  let cooled: number[];
  let client: HubSpotClient;
  const calls = {
    acquire: () => Promise.resolve(),
    coolDown: (ms: number) => {
      cooled.push(ms);
      return Promise.resolve();
    },
    heard: () => {},
  };
  const clientOf = (retry: object = { minMs: 1, maxMs: 30 }, timeoutMs = 20_000) =>
    new HubSpotClient({ token: double.token, baseUrl: double.url, calls, retry, timeoutMs });
  beforeEach(async () => {
    double = await hubspotDouble();
    cooled = [];
    client = clientOf();
  });
  afterEach(() => double.close());

  const contact = (email: string, properties: Record<string, string> = {}) => ({
    ...{ idProperty: "email", id: email, properties: { email, ...properties } },
  });
  const failed = (asked: Promise<unknown>) =>
    asked.then(
      () => {
        throw new Error("it went well");
      },
      (error: unknown) => error as HubSpotError,
    );

  it("tries a 429 five times more, with a factor of 2 between its shortest and its longest wait", async () => {
    double.faults.add({ kind: "rate_limit", times: Infinity });
    const error = await failed(client.account());
    expect(double.requests).toHaveLength(6);
    expect(cooled).toEqual([1, 2, 4, 8, 16]);
    expect(error).toMatchObject({ status: 429, policy: "TEN_SECONDLY_ROLLING" });
    cooled = [];
    await failed(clientOf({ minMs: 1, maxMs: 6 }).account());
    expect(cooled).toEqual([1, 2, 4, 6, 6]);
  });

  it("waits 1 to 30 s, five times, unless it is told otherwise", async () => {
    const { IN_CALL } = await import("../../packages/crm/src/hubspot/request.ts");
    expect(IN_CALL).toEqual({ retries: 5, minMs: 1_000, maxMs: 30_000, factor: 2 });
  });

  it("honours Retry-After, and goes on", async () => {
    double.faults.add({ kind: "rate_limit", retryAfterS: 0.02 });
    expect(await client.account()).toMatchObject({ portalId: 4242 });
    expect(cooled).toEqual([20]);
  });

  it("gives up at once where Retry-After is longer than its longest wait", async () => {
    double.faults.add({ kind: "rate_limit", retryAfterS: 31 });
    const error = await failed(clientOf({}).account());
    expect(error.retryAfterMs).toBe(31_000);
    expect(double.requests).toHaveLength(1);
  });

  it("knows RATELIMIT_EXCEEDED by its word", async () => {
    const error = new HubSpotError("no", { status: 400, category: "RATELIMIT_EXCEEDED" });
    const { isRateLimit } = await import("../../packages/crm/src/hubspot/hubspot-error.ts");
    expect(isRateLimit(error)).toBe(true);
  });

  it.each([
    ["a 500", { kind: "status", status: 500 }],
    ["a 401", { kind: "unauthorized" }],
    ["a broken connection", { kind: "reset" }],
    ["a page", { kind: "not_json" }],
  ] as const)("ends after %s: only rate limits are tried again", async (_, fault) => {
    double.faults.add(fault);
    expect(await failed(client.account())).toBeInstanceOf(HubSpotError);
    expect(double.requests).toHaveLength(1);
  });

  it("ends a call that takes too long", async () => {
    double.faults.add({ kind: "slow", ms: 2_000 });
    const error = await failed(clientOf({}, 300).account());
    expect(error.message).toContain("did not answer in 300 ms");
    expect(error.isRetryable).toBe(true);
  });

  it("tells category, correlation id and missing scopes", async () => {
    await double.close();
    double = await hubspotDouble({ scopes: ["crm.objects.contacts.read"] });
    const error = await failed(clientOf().upsert("contacts", [contact("a@example.com")]));
    expect(error).toMatchObject({
      ...{ status: 403, category: "MISSING_SCOPES" },
      missingScopes: ["crm.objects.contacts.write"],
      correlationId: double.requests[0]?.correlationId,
    });
    expect(error.message).toContain("crm.objects.contacts.write");
  });

  it("names the property that the portal refuses", async () => {
    const error = await failed(
      client.upsertOne("contacts", contact("a@example.com", { shoe_size: "9" })),
    );
    expect(error).toMatchObject({ status: 400, properties: ["shoe_size"] });
    expect(error.message).toContain("shoe_size");
  });

  it("makes an object once, however often an answer is lost", async () => {
    double.faults.add({ kind: "reset", when: "after", times: 2 });
    await failed(client.upsertOne("contacts", contact("a@example.com")));
    await failed(client.upsertOne("contacts", contact("a@example.com")));
    const { isNew } = await client.upsertOne("contacts", contact("a@example.com"));
    expect(isNew).toBe(false);
    expect(double.objects("contacts")).toHaveLength(1);
    expect(double.requests.every(({ path }) => path.endsWith("/batch/upsert"))).toBe(true);
  });

  it("answers each input of a batch by itself: a bad one does not spoil the others", async () => {
    const emails = Array.from({ length: 230 }, (_, at) => `n${at}@example.com`);
    emails[150] = "not an address";
    const results = await client.upsert(
      "contacts",
      emails.map((email) => contact(email)),
    );
    expect(results.filter(({ ok }) => !ok)).toHaveLength(1);
    expect(results[150]).toMatchObject({ ok: false, error: { status: 400 } });
    expect(double.objects("contacts")).toHaveLength(229);
  });

  it("reads a 207, input by input", async () => {
    double.faults.add({ kind: "partial", inputs: [1] });
    const inputs = ["a@example.com", "b@example.com", "c@example.com"].map((email) =>
      contact(email),
    );
    const results = await client.upsert("contacts", inputs);
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(double.contact("b@example.com")).toBeNull();
  });

  it("ensures properties, once however many ask, and refuses one that is something else", async () => {
    const both = await Promise.all([ensureHubSpot(client), ensureHubSpot(clientOf())]);
    expect(both[0].properties.some(({ property }) => property === "billing_provider")).toBe(true);
    const again = await ensureHubSpot(client);
    expect(again.properties.every(({ state }) => state === "there")).toBe(true);
    const known = double.portal.properties("companies");
    known.set("external_id", { ...known.get("external_id")!, hasUniqueValue: false });
    await expect(ensureHubSpot(client)).rejects.toThrow(/not unique/);
  });

  it("never says its token", async () => {
    double.faults.add({ kind: "unauthorized" }, { kind: "reset" });
    const errors = [await failed(client.account()), await failed(client.account())];
    for (const error of errors) {
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(
        double.token,
      );
    }
  });

  it.each([undefined, "", "short", "with space in it", "line\nbreak-token"])(
    "refuses %j as a token",
    (token) => {
      const before = process.env["HUBSPOT_TOKEN"];
      delete process.env["HUBSPOT_TOKEN"];
      expect(() => new HubSpotClient({ token })).toThrow(InvalidOptionError);
      if (before !== undefined) process.env["HUBSPOT_TOKEN"] = before;
    },
  );

  it("refuses options and objects that there are not", async () => {
    expect(() => new HubSpotClient({ token: "pat-eu1-x-y", tokn: "x" } as never)).toThrow(
      /did you mean "token"/,
    );
    await expect(client.get("contact" as "contacts", "1")).rejects.toThrow(/contacts/);
  });

  it("checks token, scopes, limits and properties, and changes nothing", async () => {
    const options = { token: double.token, baseUrl: double.url };
    const before = await checkHubSpot(options);
    expect(before.find(({ check }) => check === "token")).toMatchObject({ level: "ok" });
    expect(before.find(({ check }) => check === "limits")?.message).toContain("100 calls in 10 s");
    expect(before.some(({ message }) => message.includes("billing_provider"))).toBe(true);
    await ensureHubSpot(client);
    const after = await checkHubSpot(options);
    expect(after.every(({ level }) => level === "ok")).toBe(true);
    const reader = await hubspotDouble({
      scopes: ["contacts", "companies", "deals"].map((name) => `crm.objects.${name}.read`),
    });
    const poor = await checkHubSpot({ token: reader.token, baseUrl: reader.url });
    const scopes = poor.find(({ check }) => check === "scopes");
    expect(scopes).toMatchObject({ level: "trouble" });
    expect(scopes?.message).toContain("crm.objects.contacts.write");
    expect(reader.requests.some(({ isApplied, method }) => isApplied && method !== "GET")).toBe(
      false,
    );
    await reader.close();
    const wrong = await checkHubSpot({ ...options, token: "pat-eu1-other" });
    expect(wrong).toMatchObject([{ check: "token", level: "trouble" }]);
  });
});
