/** The double is as strict as the real one: what it lets pass must be right. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hubspotDouble, type HubSpotDouble } from "@holdfast/crm/double";

describe("the double of HubSpot", () => {
  let double: HubSpotDouble;
  beforeEach(async () => {
    double = await hubspotDouble({ limits: { max: 20 }, searchLagMs: 60_000 });
  });
  afterEach(() => double.close());

  const call = async (method: string, path: string, body?: unknown, token = double.token) => {
    const reply = await fetch(double.url + path, {
      ...{
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    const json = (text === "" ? null : JSON.parse(text)) as Record<string, unknown>;
    return { status: reply.status, json, headers: reply.headers };
  };
  const contacts = "/crm/objects/2026-09/contacts";
  const create = (properties: object) => call("POST", contacts, { properties });

  it("refuses a wrong token, a path of another version and a method that is not there", async () => {
    expect((await call("GET", `${contacts}/1`, undefined, "other")).status).toBe(401);
    expect((await call("GET", "/crm/v3/objects/contacts/1")).status).toBe(404);
    expect((await call("PUT", contacts)).status).toBe(405);
  });

  it("refuses bodies with unknown words, and properties that do not exist or do not fit", async () => {
    expect((await call("POST", contacts, { props: {} })).status).toBe(400);
    expect(await create({ shoe_size: "9" })).toMatchObject({
      ...{ status: 400, json: { category: "VALIDATION_ERROR" } },
    });
    expect((await create({ email: "nobody" })).status).toBe(400);
    expect((await create({ email: 7 })).status).toBe(400);
    const companies = "/crm/objects/2026-09/companies";
    const wrong = { properties: { numberofemployees: "many" } };
    expect((await call("POST", companies, wrong)).status).toBe(400);
    expect((await call("POST", "/crm/objects/2026-09/notes", { properties: {} })).status).toBe(400);
  });

  it("makes one contact of an email, and names the one that is there", async () => {
    const { json } = await create({ email: "Ada@Example.com" });
    const again = await create({ email: "ada@example.com" });
    expect(again).toMatchObject({ status: 409, json: { category: "CONFLICT" } });
    expect(again.json["message"]).toBe(
      `Contact already exists. Existing ID: ${String(json["id"])}`,
    );
  });

  it("upserts by unique properties alone, at most a hundred, none twice", async () => {
    const upsert = (inputs: readonly object[]) =>
      call("POST", `${contacts}/batch/upsert`, { inputs });
    const input = (id: string, idProperty = "email") => ({ id, idProperty, properties: {} });
    expect((await upsert([input("Ada", "firstname")])).status).toBe(400);
    expect((await upsert([input("a@b.de"), input("A@b.de")])).status).toBe(400);
    const many = Array.from({ length: 101 }, (_, at) => input(`n${at}@b.de`));
    expect((await upsert(many)).status).toBe(400);
    const [made, found] = [await upsert([input("a@b.de")]), await upsert([input("a@b.de")])];
    expect(made.json).toMatchObject({ results: [{ new: true }] });
    expect(found.json).toMatchObject({ results: [{ new: false }] });
  });

  it("lets its search lag behind its writes", async () => {
    await create({ email: "a@b.de" });
    const filters = [{ propertyName: "email", operator: "EQ", value: "a@b.de" }];
    const found = await call("POST", `${contacts}/search`, { filterGroups: [{ filters }] });
    expect(found.json["results"]).toEqual([]);
    expect(found.headers.get("x-hubspot-ratelimit-max")).toBeNull();
  });

  it("counts calls in a rolling window and searches by the second", async () => {
    const search = () => call("POST", `${contacts}/search`, {});
    const searches = await Promise.all(Array.from({ length: 6 }, search));
    expect(searches.filter(({ status }) => status === 429)).toHaveLength(1);
    const reads = Array.from({ length: 20 }, () => call("GET", `${contacts}/1`));
    const refused = (await Promise.all(reads)).filter(({ status }) => status === 429);
    expect(refused).toHaveLength(5);
    expect(refused[0]?.json).toMatchObject({
      ...{ errorType: "RATE_LIMIT", policyName: "TEN_SECONDLY_ROLLING" },
    });
    expect(double.busiest(10_000)).toBe(26);
  });

  it("applies, then fails, where it is told so", async () => {
    double.faults.add(
      { kind: "status", status: 500, when: "after", method: "POST" },
      { kind: "reset", when: "after", path: "contacts" },
    );
    expect((await create({ email: "a@b.de" })).status).toBe(500);
    await expect(create({ email: "c@d.de" })).rejects.toThrow();
    expect(double.objects("contacts")).toHaveLength(2);
    expect(double.requests.map(({ isApplied, status }) => [isApplied, status])).toEqual([
      [true, 500],
      [true, null],
    ]);
  });
});
