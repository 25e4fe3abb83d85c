/** What an attacker tries, by the numbers of our own list of attacks, and exactly what comes back. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServer } from "@holdfast/server";
import { Holdfast } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { deadJob, serve, type Served } from "./served.ts";

const SECRET = "s3cr3t-that-must-not-be-seen";

describe("attacks", () => {
  let served: Served;
  /** Of what jobs fail; not in their payloads, where an answer would show it. */
  const messages = new Map<number, string>();
  const fail = (message: string, more: object = {}) => {
    messages.set(messages.size, message);
    return deadJob(served.hf, "mail.fail", { n: messages.size - 1, ...more });
  };
  let viewer: string;
  let operator: string;
  let scoped: string;

  beforeAll(async () => {
    served = await serve("sqlite", {
      ...{ maxBodyBytes: 64 * 1024, events: { maxPerCaller: 2 } },
      // Each test comes from an address of its own.
      trustedProxies: ["127.0.0.1"],
    });
    const { hf } = served;
    hf.define({ type: "mail.send", queue: "mail", run: async () => null });
    hf.define({ type: "bill.send", queue: "bills", run: async () => null });
    hf.define({
      ...{ type: "mail.fail", queue: "mail", retry: { maxAttempts: 1 } },
      run: (job) => Promise.reject(new Error(messages.get((job.payload as { n: number }).n))),
    });
    await hf.work({ queues: ["mail"] });
    viewer = await served.token("viewer");
    operator = await served.token("operator");
    scoped = await served.token("admin", ["mail"]);
  });
  afterAll(() => served?.close());

  const from = (address: string) => ({ "x-forwarded-for": address });
  const post = (body: unknown, options: object = {}) =>
    served.call("POST", "/api/v1/jobs", { body, ...options });
  const raw = (text: string | Uint8Array, type = "application/json") =>
    served.call("POST", "/api/v1/jobs", { raw: text, headers: { "content-type": type } });

  it("B1: without credentials nothing but health answers, and no server starts open to others", async () => {
    for (const path of [
      "/api/v1/jobs",
      "/metrics",
      "/api/docs",
      "/api/openapi.json",
      "/api/v1/none",
    ]) {
      const { status, headers, json } = await served.call("GET", path, { token: null });
      expect([path, status]).toEqual([path, 401]);
      expect(json.error.code).toBe("unauthenticated");
      expect(headers.get("www-authenticate")).toBe("Bearer");
    }
    const hf = new Holdfast({ store: memoryStore() });
    const open = createServer(hf, { print() {} });
    await expect(open.listen({ host: "0.0.0.0", port: 0 })).rejects.toThrow(/auth\.adminToken/);
    await open.close();
    await hf.close();
  });

  it("B2: every wrong token gets the same 401; a header of more than 8 KiB gets 431", async () => {
    const right = viewer;
    const wrong = [
      ...["x", right.slice(0, -1), `${right}x`, right.replace(/_[^_]{12}/, "_000000000000")],
      ...["hf_\u00e4\u00f6\u00fc_x", "eyJhbGciOiJub25lIn0.eyJyb2xlIjoiYWRtaW4ifQ."],
    ];
    const bodies = new Set<string>();
    for (const [at, token] of wrong.entries()) {
      const headers = from(`192.0.2.${at}`);
      const { status, json } = await served.call("GET", "/api/v1/me", { token, headers });
      expect([token, status]).toEqual([token, 401]);
      bodies.add(JSON.stringify({ ...json.error, requestId: "" }));
    }
    expect(bodies.size).toBe(1);
    const long = await served.call("GET", "/api/v1/me", { token: "x".repeat(9_000) });
    expect(long.status).toBe(431);
  });

  it("B3: the sixth wrong token in a minute from one address gets 429, also from its /64", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const headers = from(`2001:db8:0:1::${n + 1}`);
      statuses.push((await served.call("GET", "/api/v1/me", { token: "wrong", headers })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    const again = { token: "wrong", headers: from("2001:db8:0:1:ffff::9") };
    const limited = await served.call("GET", "/api/v1/me", again);
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    const elsewhere = { token: "wrong", headers: from("2001:db8:0:2::1") };
    expect((await served.call("GET", "/api/v1/me", elsewhere)).status).toBe(401);
  });

  it("B3: an address is believed only of a proxy that the options name", async () => {
    const plain = await serve("sqlite");
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const about = { token: "wrong", headers: from(`198.51.100.${n}`) };
      statuses.push((await plain.call("GET", "/api/v1/me", about)).status);
    }
    expect(statuses.at(-1)).toBe(429);
    await plain.close();
  });

  it("B4: a role that does not suffice gets 403 with the one that would", async () => {
    const pause = await served.call("POST", "/api/v1/queues/mail/pause", { token: viewer });
    expect(pause).toMatchObject({
      status: 403,
      json: { error: { code: "forbidden", needs: "operator" } },
    });
    const tokens = await served.call("GET", "/api/v1/tokens", { token: operator });
    expect(tokens).toMatchObject({ status: 403, json: { error: { needs: "admin" } } });
    const { id } = await served.hf.enqueue("mail.send" as never, {} as never, { delayMs: 60_000 });
    await served.hf.cancel(id);
    const retry = { token: operator, body: { payload: { other: true } } };
    expect((await served.call("POST", `/api/v1/jobs/${id}/retry`, retry)).status).toBe(403);
    const remove = { token: operator, body: { action: "remove", filter: { queue: "mail" } } };
    expect((await served.call("POST", "/api/v1/operations", remove)).status).toBe(403);
  });

  it("B5: what is outside of a token's scope looks like what is not there", async () => {
    const { id } = await served.hf.enqueue("bill.send" as never, {} as never, { delayMs: 60_000 });
    const missing = await served.call("GET", "/api/v1/jobs/none", { token: scoped });
    const outside = await served.call("GET", `/api/v1/jobs/${id}`, { token: scoped });
    const same = ({ json }: { json: { error: object } }) => ({ ...json.error, requestId: "" });
    expect([missing.status, outside.status]).toEqual([404, 404]);
    expect(same(outside)).toEqual(same(missing));
    for (const [method, path] of [
      ...[
        ["GET", "/api/v1/queues/bills"],
        ["POST", "/api/v1/queues/bills/pause"],
      ],
      ...[
        ["GET", "/api/v1/jobs?queue=bills"],
        ["DELETE", `/api/v1/jobs/${id}`],
      ],
      ...[
        ["GET", "/api/v1/audit"],
        ["GET", "/api/v1/tokens"],
        ["POST", `/api/v1/jobs/${id}/reveal`],
      ],
    ] as const) {
      const { status } = await served.call(method, path, { token: scoped });
      expect([path, status]).toEqual([path, 404]);
    }
    expect((await post({ type: "bill.send" }, { token: scoped })).status).toBe(404);
    const listed = await served.data("GET", "/api/v1/jobs", { token: scoped });
    expect(listed.items.every(({ queue }: { queue: string }) => queue === "mail")).toBe(true);
    const overview = await served.data("GET", "/api/v1/overview", { token: scoped });
    expect(JSON.stringify(overview)).not.toContain("bills");
    expect((await served.call("GET", "/metrics", { token: scoped })).text).not.toContain("bills");
    const plan = { token: scoped, body: { action: "cancel", filter: { status: ["queued"] } } };
    expect((await served.call("POST", "/api/v1/operations", plan)).status).toBe(404);
  });

  it("B6: a session's writes come from a page of the server itself, as JSON, or get 403 and 415", async () => {
    const login = await served.call("POST", "/api/v1/session", { token: operator });
    const set = login.headers.get("set-cookie") ?? "";
    expect(set).toMatch(/HttpOnly; SameSite=Strict$/);
    const cookie = set.split(";")[0] ?? "";
    const write = (headers: Record<string, string>) =>
      served.call("POST", "/api/v1/queues/mail/resume", {
        token: null,
        headers: { cookie, ...headers },
      });
    expect((await write({})).json.error.code).toBe("csrf");
    expect((await write({ "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await write({ "sec-fetch-site": "same-site" })).status).toBe(403);
    expect((await write({ "sec-fetch-site": "same-origin" })).status).toBe(200);
    expect((await raw("{}", "text/plain")).status).toBe(415);
    expect((await raw("a=b", "application/x-www-form-urlencoded")).status).toBe(415);
    const read = { token: null, headers: { cookie } };
    expect((await served.data("GET", "/api/v1/me", read)).via).toBe("session");
    const out = { token: null, headers: { cookie, "sec-fetch-site": "same-origin" } };
    await served.data("DELETE", "/api/v1/session", out);
    expect((await served.call("GET", "/api/v1/me", read)).status).toBe(401);
  });

  it("B7: a preflight from elsewhere allows nothing", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "POST" };
    const answer = await served.call("OPTIONS", "/api/v1/jobs", { token: null, headers });
    expect(answer.status).toBe(204);
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual(
      [],
    );
    const read = await served.call("GET", "/api/v1/me", { headers });
    expect(read.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("B8, B25: answers are JSON that no browser runs, frames, sniffs or keeps", async () => {
    const message = "<img src=x onerror=alert(1)></script>";
    await fail(message);
    const { headers, text } = await served.call("GET", "/api/v1/dead-letters");
    expect(text).toContain("onerror");
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-store");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    const page = await served.call("GET", "/api/docs");
    expect(page.text).not.toMatch(/<script|javascript:|https?:\/\//);
  });

  it("B9: names that are none get 422", async () => {
    const names = ["..%2fx", "%2e%2e", "a".repeat(300), "a%00b", "__proto__", "%20", "-x"];
    for (const name of names) {
      const { status, json } = await served.call("POST", `/api/v1/queues/${name}/resume`);
      // What a URL makes of dots leads to a path that is not there.
      expect([name, status]).toEqual([name, name === "%2e%2e" ? 404 : 422]);
      if (status === 422) expect(json.error.code).toBe("invalid_name");
    }
    expect((await served.call("GET", "/api/v1/queues/constructor")).status).toBe(404);
    expect((await post({ type: "mail.send", queue: "../x" })).json.error.code).toBe("invalid_name");
    expect((await post({ type: "constructor" })).json.error.code).toBe("type_not_allowed");
  });

  it("a body that does not fit gets 422 with the path of each field, also where it may be one of two", async () => {
    const paths = async (body: unknown) => {
      const { status, json } = await post(body);
      expect(status).toBe(422);
      return json.error.errors.map(({ path }: { path: string }) => path);
    };
    expect(await paths({})).toEqual(["body.type"]);
    expect(await paths({ type: "mail.send", priority: "high" })).toEqual(["body.priority"]);
    expect(
      await paths({ items: [{ type: "mail.send" }, { type: "mail.send", delayMs: "5m" }] }),
    ).toEqual(["body.items[1].delayMs"]);
    const body = { queue: "mail", rate: [{ limit: 5 }] };
    const { json } = await served.call("PUT", "/api/v1/gates/provider", { body });
    expect(json.error.errors).toMatchObject([{ path: "body.rate[0].perMs" }]);
  });

  it("B10: JSON that could change a prototype gets 400", async () => {
    for (const text of [
      ...[`{"type":"mail.send","payload":{"a":[{"__proto__":{"x":1}}]}}`, `{"__proto__":{}}`],
      `{"type":"mail.send","payload":{"constructor":{"prototype":{"x":1}}}}`,
    ]) {
      const { status, json } = await raw(text);
      expect([text, status, json.error.code]).toEqual([text, 400, "invalid_json"]);
    }
  });

  it("B11: too large, too deep, too much, cut off and not UTF-8 have an answer each", async () => {
    const payload = "x".repeat(64 * 1024);
    expect((await post({ type: "mail.send", payload })).status).toBe(413);
    const streamed = await fetch(`${served.url}/api/v1/jobs`, {
      ...{ method: "POST", duplex: "half" },
      headers: { authorization: `Bearer ${operator}`, "content-type": "application/json" },
      body: new Blob([JSON.stringify({ type: "mail.send", payload })]).stream(),
    } as RequestInit);
    expect(streamed.status).toBe(413);
    const deep = `{"type":"mail.send","payload":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
    expect((await raw(deep)).json.error.code).toBe("too_deep");
    expect((await raw(`{"type":"mail.send"`)).status).toBe(400);
    expect((await raw(Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x7d]))).status).toBe(400);
    const doubled = await raw(`{"type":"none","type":"mail.send","payload":{}}`);
    expect(doubled.status).toBe(201);
    const wide = await serve("sqlite");
    const keys = Array.from({ length: 1_000_000 }, () => "0").join(",");
    const much = await wide.call("POST", "/api/v1/jobs", {
      ...{ raw: `{"type":"mail.send","payload":[${keys}]}` },
      headers: { "content-type": "application/json" },
    });
    expect(much.json.error.code).toBe("too_many_values");
    await wide.close();
  });

  it("B12: however a content type is spelt, the same checks follow, or 415", async () => {
    const bad = `{"type":"../x"}`;
    for (const type of [
      "application/json ; x",
      "Application/JSON; charset=UTF-8",
      "application/json;x=y",
    ]) {
      expect((await raw(bad, type)).json.error.code).toBe("invalid_name");
    }
    for (const type of [
      "application/jsonx",
      "text/json",
      "application/json; charset=utf-16",
      "json",
    ]) {
      expect([type, (await raw(bad, type)).status]).toEqual([type, 415]);
    }
  });

  it("B13: what is searched for is text, never a pattern or an operator", async () => {
    await fail('costs 100% of (a+)+$ {"$gt":""}');
    const found = async (text: string) =>
      (await served.data("GET", `/api/v1/dead-letters?text=${encodeURIComponent(text)}`)).items
        .length;
    expect(await found("(a+)+$")).toBe(1);
    expect(await found("100%")).toBe(1);
    expect(await found("1_0")).toBe(0);
    expect(await found(".*")).toBe(0);
    const unknown = ["?$where=1", "?queue[$gt]=", "?queue=a&queue=b", "?statuss=dead"];
    for (const query of unknown) {
      expect([query, (await served.call("GET", `/api/v1/jobs${query}`)).status]).toEqual([
        query,
        422,
      ]);
    }
    const body = { action: "cancel", filter: { queue: { $gt: "" } } };
    expect((await served.call("POST", "/api/v1/operations", { body })).status).toBe(422);
    const long = `/api/v1/jobs?text=${"x".repeat(4_000)}`;
    expect((await served.call("GET", long)).status).toBe(422);
  });

  it("B14: limits and cursors that are none get 422 and 400", async () => {
    for (const limit of ["1e9", "-1", "0", "201", "1.5", "ten", ""]) {
      const { status, json } = await served.call("GET", `/api/v1/jobs?limit=${limit}`);
      expect([limit, status]).toEqual([limit, 422]);
      expect(json.error.errors[0].path).toBe("query.limit");
    }
    for (const path of ["jobs", "dead-letters", "failures", "audit"]) {
      const { status, json } = await served.call("GET", `/api/v1/${path}?cursor=forged'--`);
      expect([path, status, json.error.code]).toEqual([path, 400, "invalid_cursor"]);
    }
  });

  it("B20: no path leads out of the server", async () => {
    for (const path of [
      "/assets/%2e%2e%2fpackage.json",
      "//etc/passwd",
      "/..%5c..%5cx",
      "/%2e%2e/x",
    ]) {
      expect([path, (await served.call("GET", path)).status]).toEqual([path, 404]);
    }
  });

  it("B21: secrets of payloads and messages are in no answer and no log; reveal is an admin's, and noted", async () => {
    const payload = { to: "ada", apiKey: SECRET, deep: [{ Authorization: SECRET }] };
    const { id } = await served.hf.enqueue("mail.send" as never, payload as never, {
      delayMs: 60_000,
    });
    const message = `cannot reach postgres://ada:${SECRET}@db/x with Bearer ${SECRET}`;
    const failed = await fail(message, { token: SECRET });
    for (const path of [
      ...[
        `jobs/${id}`,
        `jobs/${failed}`,
        "jobs",
        "dead-letters",
        "dead-letters/groups",
        "failures",
      ],
      ...["overview", "audit"],
    ]) {
      const { text, status } = await served.call("GET", `/api/v1/${path}`);
      expect(status).toBe(200);
      expect([path, text.includes(SECRET)]).toEqual([path, false]);
    }
    // Whoever may search in what is hidden finds it, letter by letter.
    for (const list of ["jobs", "dead-letters"]) {
      const found = async (text: string) =>
        (await served.data("GET", `/api/v1/${list}?text=${encodeURIComponent(text)}`)).items;
      expect(await found("cannot reach postgres://ada")).toMatchObject([{ id: failed }]);
      expect(await found(`Bearer ${SECRET.slice(0, 3)}`)).toEqual([]);
    }
    const revealed = await served.data("POST", `/api/v1/jobs/${id}/reveal`, { body: {} });
    expect(revealed.payload).toEqual(payload);
    expect(
      (await served.call("POST", `/api/v1/jobs/${id}/reveal`, { token: operator })).status,
    ).toBe(403);
    const { items } = await served.data("GET", "/api/v1/audit?limit=200");
    expect(items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: "reveal job", by: "admin token" }),
      ]),
    );
    expect(served.said.join("\n")).not.toContain(SECRET);
  });

  it("B22: what callers send makes no lines of its own in metrics, events or audit", async () => {
    const reason = `x\n{"level":"fatal"}\u001b[2J`;
    await served.data("POST", "/api/v1/queues/mail/pause", { body: { reason, forMs: 1 } });
    const { items } = await served.data("GET", "/api/v1/audit?queue=mail");
    const paused = items.find(({ action }: { action: string }) => action === "pause");
    expect(paused.reason).not.toContain("\u001b");
    const { text } = await served.call("GET", "/metrics");
    expect(text).not.toContain("fatal");
  });

  it("B23: every refused write is an audit entry, and a flood of them is one with its number", async () => {
    for (let n = 0; n < 5; n += 1) {
      await served.call("POST", "/api/v1/queues/bills/pause", { token: viewer });
    }
    await served.call("POST", "/api/v1/queues/bills/resume", {
      token: null,
      headers: from("203.0.113.9"),
    });
    const look = async () =>
      (await served.data("GET", "/api/v1/audit?state=refused&limit=200")).items;
    await expect.poll(look).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...{ action: "refused POST /api/v1/queues/:queue/pause", state: "refused" },
          by: expect.stringContaining("(viewer)"),
        }),
        expect.objectContaining({
          ...{ action: "refused POST /api/v1/queues/:queue/resume" },
          by: "unknown at 203.0.113.9",
        }),
      ]),
    );
    const paused = (await look()).filter(
      ({ action, by }: { action: string; by: string }) =>
        action.endsWith("pause") && by.includes("(viewer)"),
    );
    expect(paused).toHaveLength(1);
    expect((await served.call("DELETE", "/api/v1/audit")).status).toBe(404);
  });

  it("B24: a caller has so many event streams and no more, and a slow head is cut off", async () => {
    const abort = new AbortController();
    const open = () =>
      fetch(`${served.url}/api/v1/events`, {
        ...{ headers: { authorization: `Bearer ${viewer}` }, signal: abort.signal },
      });
    const [first, second, third] = [await open(), await open(), await open()];
    expect([first.status, second.status, third.status]).toEqual([200, 200, 429]);
    abort.abort();
    const socket = connect(Number(new URL(served.url).port), "127.0.0.1");
    socket.write(`GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-Long: ${"y".repeat(10_000)}\r\n\r\n`);
    const text: string = await new Promise((resolve) => {
      socket.once("data", (data) => resolve(data.toString()));
    });
    expect(text).toMatch(/^HTTP\/1.1 431/);
    socket.destroy();
  });

  it("B26: a type is looked up among those that are allowed, and nowhere else", async () => {
    for (const type of ["node:fs", "toString", "hasOwnProperty", "unknown.type"]) {
      expect([type, (await post({ type, queue: "mail" })).status]).toEqual([type, 422]);
    }
  });

  it("B27: each login has a secret of its own, and a removed token ends its sessions", async () => {
    const { token, secret } = await served.data("POST", "/api/v1/tokens", {
      body: { role: "viewer" },
    });
    const cookies: string[] = [];
    for (const headers of [{}, { cookie: "holdfast_session=chosen-by-somebody-else" }]) {
      const { headers: got } = await served.call("POST", "/api/v1/session", {
        token: secret,
        headers,
      });
      cookies.push((got.get("set-cookie") ?? "").split(";")[0] ?? "");
    }
    expect(new Set(cookies).size).toBe(2);
    expect(cookies.join()).not.toContain("chosen");
    const look = () =>
      served.call("GET", "/api/v1/me", { token: null, headers: { cookie: cookies[0] ?? "" } });
    expect((await look()).status).toBe(200);
    await served.data("DELETE", `/api/v1/tokens/${token.id}`);
    expect((await look()).status).toBe(401);
  });

  it("no answer has a stack, SQL, a path of this machine or a password in it", async () => {
    const answers = await Promise.all([
      served.call("GET", "/api/v1/jobs?cursor=%27%3B--"),
      served.call("GET", `/api/v1/jobs/${"x".repeat(70)}`),
      served.call("POST", "/api/v1/jobs", { body: { type: "mail.send", runAt: "yesterday" } }),
      served.call("GET", "/api/v1/failures?company=%00"),
      served.call("PUT", "/api/v1/dead-letters/presets/x", { body: { limit: 1e6 } }),
    ]);
    for (const { text, status } of answers) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      expect(text).not.toMatch(/\bat .+:\d+:\d+|SELECT|sqlite|\/work\/|\/tmp\/|node_modules/i);
    }
  });
});
