/** Who gets in, and what bad input gets. */
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HARBOUR, NORTHWIND, Office, SECRET } from "./office.ts";

describe("callers of the back office", () => {
  let office: Office;
  beforeAll(async () => {
    office = await Office.open();
  });
  afterAll(() => office?.close());

  const HEALTH = "/api/admin/queue/health";
  const claims = { email: "x@y.example", name: "X", role: "admin", companyId: null };
  const signed = (secret: string, expires: string, about: object = claims) =>
    new SignJWT({ ...about })
      .setProtectedHeader({ alg: "HS256" })
      .setSubject("U-1")
      .setIssuer("backoffice")
      .setExpirationTime(expires)
      .sign(new TextEncoder().encode(secret));

  it("are known by their token, at Nest's routes and at Holdfast's alike", async () => {
    expect((await office.get("staff", "/api/auth/me")).body).toMatchObject({ role: "operator" });
    expect((await office.get("staff", "/api/v1/me")).body.data).toMatchObject({
      ...{ by: "user staff@backoffice.example", role: "operator" },
    });
    const own = await signed(SECRET, "1h");
    expect((await office.ask("GET", HEALTH, { token: own })).status).toBe(200);
  });

  it("are refused with an expired, a forged, an unsigned, a foreign token, and without one", async () => {
    const [head = "", body = "", end = ""] = (await office.tokenOf("viewer")).split(".");
    const raised = { ...(JSON.parse(atob(body)) as object), role: "admin" };
    const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const tokens = [
      await signed(SECRET, "-1s"),
      await signed("another secret that is also long enough", "1h"),
      await signed(SECRET, "1h", { ...claims, role: "root" }),
      `${head}.${base64(raised)}.${end}`,
      `${base64({ alg: "none" })}.${base64(raised)}.`,
      "nonsense",
      undefined,
    ];
    for (const token of tokens) {
      for (const path of [HEALTH, "/api/companies", "/api/v1/overview", "/metrics"]) {
        expect([path, (await office.ask("GET", path, { token })).status]).toEqual([path, 401]);
      }
    }
  });

  it("get what their role allows", async () => {
    for (const who of ["viewer", "staff"] as const) {
      expect((await office.get(who, HEALTH)).status).toBe(403);
      expect((await office.get(who, "/api/admin/queue/failures")).status).toBe(403);
      const retry = await office.post(who, "/api/admin/queue/retry", { failureId: "x" });
      expect(retry.status).toBe(403);
      expect((await office.post(who, "/api/admin/queue/prune")).status).toBe(403);
    }
    expect((await office.get("admin", HEALTH)).status).toBe(200);
    const make = await office.post("viewer", `/api/companies/${NORTHWIND}/snapshots`);
    expect(make).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining("operator") },
    });
    expect((await office.get("viewer", "/api/outbox")).status).toBe(403);
  });

  it("see no other company than their own, and none of its jobs", async () => {
    const own = (await office.get("owner", "/api/companies")).body as { id: string }[];
    expect(own.map(({ id }) => id)).toEqual([NORTHWIND]);
    const foreign = await office.get("owner", `/api/companies/${HARBOUR}/snapshots`);
    const none = await office.get("owner", "/api/companies/no-such/snapshots");
    expect([foreign.status, foreign.body]).toEqual([404, none.body]);
    expect((await office.post("owner", `/api/companies/${HARBOUR}/snapshots`)).status).toBe(404);
    const note = { companyId: HARBOUR, subject: "x", body: "y" };
    expect((await office.post("owner", "/api/notifications", note)).status).toBe(404);
    expect((await office.get("owner", "/api/outbox")).status).toBe(403);
    await office.done(await office.post("staff", `/api/companies/${HARBOUR}/snapshots`));
    const jobs = await office.get("owner", "/api/v1/queue");
    expect(jobs.body).toEqual([]);
    expect((await office.get("staff", "/api/v1/queue")).body).not.toEqual([]);
  });

  it("hear of every mistake in a body, and where it is", async () => {
    const post = async (path: string, body: unknown) => {
      const answer = await office.post("staff", `/api/companies/${NORTHWIND}/${path}`, body);
      const errors = (answer.body.errors ?? []) as { path: string }[];
      return [answer.status, errors.map((one) => one.path)];
    };
    expect(await post("snapshots", { amendedMonth: "2026-13" })).toEqual([422, ["amendedMonth"]]);
    expect(await post("snapshots", { amendedMont: "2026-01" })).toEqual([422, [""]]);
    expect(await post("snapshots", [])).toEqual([422, [""]]);
    expect(await post("reports", {})).toEqual([422, ["periodStart", "periodEnd"]]);
    const turned = { periodStart: "2026-02-01", periodEnd: "2026-01-01" };
    expect(await post("recalc", turned)).toEqual([422, ["periodEnd"]]);
    const wrong = { transactionId: "", date: "2026-02-30", amount: "1", category: "x" };
    expect(await post("transactions", wrong)).toEqual([422, ["transactionId", "date", "amount"]]);
    const login = await office.ask("POST", "/api/auth/login", { body: { email: 1 } });
    expect(login).toMatchObject({ status: 422 });
    const payload = { type: "batchRecalc", payload: { companyId: NORTHWIND } };
    const job = await office.post("staff", "/api/v1/jobs", payload);
    expect(job.status).toBe(422);
    expect(JSON.stringify(job.body)).toContain("periodStart");
    const nul = { transactionId: "a\0b", date: "2026-02-01", amount: 1, category: "x" };
    expect(await post("transactions", nul)).toEqual([422, ["transactionId"]]);
    expect((await office.get("staff", "/api/companies/%00/members")).status).toBe(404);
    const broken = await fetch(`${office.url}/api/auth/login`, {
      ...{ method: "POST", body: "{", headers: { "content-type": "application/json" } },
    });
    expect(broken.status).toBe(400);
  });

  it("are told of a booking that is there already", async () => {
    const body = { transactionId: "D-1", date: "2026-01-01", amount: 1, category: "sales" };
    const path = `/api/companies/${NORTHWIND}/transactions`;
    expect((await office.post("staff", path, body)).status).toBe(201);
    expect((await office.post("staff", path, body)).status).toBe(409);
  });

  it("log in on a page, by a cookie that scripts cannot read and other sites cannot use", async () => {
    const form = new URLSearchParams({
      email: "ADMIN@backoffice.example",
      password: "try-admin-2026",
    });
    const page = await fetch(`${office.url}/login`, {
      method: "POST",
      body: form,
      redirect: "manual",
    });
    expect([page.status, page.headers.get("location")]).toEqual([303, "/"]);
    const given = page.headers.get("set-cookie") ?? "";
    expect(given).toMatch(/HttpOnly; SameSite=Strict/);
    const [cookie = ""] = given.split(";");
    const asked = (headers: Record<string, string>) =>
      office.ask("POST", "/api/ping", { body: {}, headers: { cookie, ...headers } });
    expect((await asked({})).status).toBe(202);
    expect((await asked({ "sec-fetch-site": "same-origin" })).status).toBe(202);
    expect((await asked({ "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await office.ask("GET", "/api/v1/overview", { headers: { cookie } })).status).toBe(200);
    const elsewhere = { "sec-fetch-site": "cross-site" };
    for (const path of ["/login", "/api/auth/login"]) {
      const body = { email: "admin@backoffice.example", password: "try-admin-2026" };
      const refusal = await office.ask("POST", path, { body, headers: elsewhere });
      expect([path, refusal.status]).toEqual([path, 403]);
    }
    for (const odd of [{ toString: 1 }, ["x"], "a\0b", 7, null]) {
      const body = { email: odd, password: odd };
      expect((await office.ask("POST", "/login", { body })).status).toBe(401);
    }
    const refused = new URLSearchParams({ email: "<b>@x.example", password: "x" });
    const again = await fetch(`${office.url}/login`, { method: "POST", body: refused });
    expect([again.status, (await again.text()).includes("<b>")]).toEqual([401, false]);
  });

  it("wait after wrong passwords, whether the account is there or not", async () => {
    for (const email of ["viewer@backoffice.example", "nobody@backoffice.example"]) {
      const answers: Answer[] = [];
      for (let guess = 0; guess < 6; guess += 1) {
        const body = { email, password: `guess-${guess}` };
        answers.push(await office.ask("POST", "/api/auth/login", { body }));
      }
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429]);
      expect(answers[0]?.body.message).toBe("e-mail or password is wrong");
      expect(Number(answers[5]?.headers.get("retry-after"))).toBeGreaterThan(0);
    }
  });
});

type Answer = Awaited<ReturnType<Office["ask"]>>;
