/** Who is let in, and by what. */
import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import { createServer, Tokens } from "@holdfast/server";
import { classic } from "@holdfast/server/classic";
import { Holdfast, StoreUnavailableError, type Store } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { Authenticator } from "../../packages/server/src/auth/authenticator.ts";
import { Sessions } from "../../packages/server/src/auth/sessions.ts";
import type { HttpError } from "../../packages/server/src/http/http-error.ts";
import { ADMIN_TOKEN, serve, type Served } from "./served.ts";

let served: Served | null = null;
afterEach(async () => {
  await served?.close();
  served = null;
});

const KEY = "a-shared-secret-of-more-than-32-characters";
const signed = (claims: Record<string, unknown>, key = KEY) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256" })
    .setSubject("ada")
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(key));

describe("auth", () => {
  it("the first start on this machine makes an admin's token and shows it once", async () => {
    served = await serve("sqlite", { auth: {} });
    const secret = /hf_\S+/.exec(served.printed.join("\n"))?.[0] ?? "";
    expect(await served.data("GET", "/api/v1/me", { token: secret })).toMatchObject({
      role: "admin",
    });
    const { items } = await served.data("GET", "/api/v1/tokens", { token: secret });
    expect(items).toMatchObject([{ name: "first", role: "admin", queues: null }]);
    expect(JSON.stringify(items)).not.toContain("hash");
    const printed: string[] = [];
    const second = createServer(served.hf, { print: (line) => void printed.push(line) });
    await second.listen({ port: 0 });
    expect(printed).toEqual([]);
    await second.close();
  });

  it("a JSON Web Token has its role and scope from its claims, or is refused", async () => {
    served = await serve("sqlite", { auth: { jwt: { secret: KEY, issuer: "us" } } });
    const me = (token: string) => served!.call("GET", "/api/v1/me", { token });
    const good = await me(await signed({ iss: "us", role: "operator", queues: ["mail"] }));
    expect(good.json.data).toMatchObject({ by: "user ada", role: "operator", queues: ["mail"] });
    const refused = [
      await signed({ iss: "them", role: "admin" }),
      await signed({ iss: "us", role: "root" }),
      await signed({ iss: "us", role: "admin" }, "another-secret-of-more-than-32-characters"),
    ];
    for (const token of refused) expect((await me(token)).status).toBe(401);
    expect((await me(await signed({ iss: "us", role: "admin", queues: "mail" }))).status).toBe(401);
  });

  it("keys of a provider are fetched, and a public key is no shared secret", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" };
    const provider = createHttp((_, response) => response.end(JSON.stringify({ keys: [jwk] })));
    await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
    const jwksUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/keys`;
    served = await serve("sqlite", { auth: { jwt: { jwksUrl } } });
    const token = await new SignJWT({ role: "viewer" })
      .setProtectedHeader({ alg: "ES256", kid: "one" })
      .setSubject("bob")
      .setExpirationTime("1h")
      .sign(privateKey);
    expect(await served.data("GET", "/api/v1/me", { token })).toMatchObject({ by: "user bob" });
    const forged = await signed({ role: "admin" }, JSON.stringify(jwk));
    expect((await served.call("GET", "/api/v1/me", { token: forged })).status).toBe(401);
    provider.close();
  });

  it("a function of the user's own knows callers without a token", async () => {
    served = await serve("sqlite", {
      auth: {
        user: (request) =>
          request.headers.get("x-user") === "ada" ? { name: "ada", role: "viewer" } : null,
      },
    });
    const ada = { token: null, headers: { "x-user": "ada" } };
    expect(await served.data("GET", "/api/v1/me", ada)).toMatchObject({
      by: "user ada",
      via: "function",
    });
    expect((await served.call("GET", "/api/v1/me", { token: null })).status).toBe(401);
    const write = { token: null, headers: { "x-user": "ada", "sec-fetch-site": "cross-site" } };
    expect((await served.call("POST", "/api/v1/queues/x/resume", write)).json.error.code).toBe(
      "csrf",
    );
  });

  it("where that function alone knows callers, tokens and cookies are not looked at", async () => {
    served = await serve("sqlite", {
      auth: {
        only: "user",
        user: (request, incoming) =>
          request.headers.get("x-user") === "ada" && incoming?.method === "GET"
            ? { name: "ada", role: "viewer" }
            : null,
      },
      mounts: [classic({ anonymous: "operator" })],
    });
    // The bearer token of a login in front is not ours, and no wrong one either.
    const headers = { "x-user": "ada", authorization: "Bearer of-another" };
    for (let asked = 0; asked < 8; asked += 1) {
      const answer = await served.call("GET", "/api/v1/me", { token: null, headers });
      expect(answer).toMatchObject({ status: 200, json: { data: { by: "user ada" } } });
    }
    const { secret } = await new Tokens(served.hf.tools.ledgerRecords, Date.now).create({
      ...{ name: "laptop", role: "admin", queues: null, createdBy: "test", expiresAt: null },
    });
    expect((await served.call("GET", "/api/v1/me", { token: secret })).status).toBe(401);
    expect((await served.call("GET", "/queue", { token: null })).status).toBe(401);
    const only = "user" as const;
    const user = () => null;
    const token = "0123456789abcdef";
    for (const auth of [
      { only },
      { only: "token" as never, user },
      { only, user, adminToken: token },
    ]) {
      expect(() => createServer(served!.hf, { auth })).toThrow('auth.only is "user"');
    }
  });

  it("a read-only server refuses every write, and lets people in", async () => {
    served = await serve("sqlite", { readOnly: true });
    const pause = await served.call("POST", "/api/v1/queues/mail/pause");
    expect(pause).toMatchObject({ status: 403, json: { error: { code: "read_only" } } });
    expect((await served.call("POST", "/api/v1/session")).status).toBe(200);
    expect((await served.call("GET", "/api/v1/jobs")).status).toBe(200);
    const look = async () => (await served!.data("GET", "/api/v1/audit?state=refused")).items;
    await expect.poll(look).toMatchObject([{ by: "admin token" }]);
  });

  it("a token that is over or removed is wrong", async () => {
    served = await serve("sqlite");
    const past = { role: "viewer", expiresAt: new Date(0).toISOString() };
    expect((await served.call("POST", "/api/v1/tokens", { body: past })).status).toBe(422);
    const secret = await served.token("viewer");
    expect((await served.call("GET", "/api/v1/me", { token: secret })).status).toBe(200);
    const { items } = await served.data("GET", "/api/v1/tokens");
    await served.data("DELETE", `/api/v1/tokens/${items[0].id}`);
    expect((await served.call("GET", "/api/v1/me", { token: secret })).status).toBe(401);
    expect((await served.call("DELETE", "/api/v1/tokens/none")).status).toBe(404);
  });

  it("another admin token ends the sessions that were begun with the one before", async () => {
    served = await serve("sqlite");
    const { headers } = await served.call("POST", "/api/v1/session");
    const cookie = (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const look = async (adminToken: string) => {
      const server = createServer(served!.hf, { auth: { adminToken } });
      const request = new Request("http://us/api/v1/me", { headers: { cookie } });
      const { status } = await server.fetch(request);
      await server.close();
      return status;
    };
    expect(await look(ADMIN_TOKEN)).toBe(200);
    expect(await look("another-admin-token-after-a-leak")).toBe(401);
  });

  it("a good token is let in again once the wrong ones of its address are a minute old", async () => {
    const hf = new Holdfast({ store: memoryStore() }) as Holdfast;
    let at = Date.now();
    const now = () => at;
    const tokens = new Tokens(hf.tools.ledgerRecords, now);
    const sessions = new Sessions(hf.tools.ledgerRecords, now);
    const authenticator = new Authenticator({}, { tokens, sessions, now });
    const { secret } = await tokens.create({
      ...{ role: "viewer", queues: null, name: "", createdBy: "us", expiresAt: null },
    });
    const ask = (token: string) => {
      const request = new Request("http://us/", { headers: { authorization: `Bearer ${token}` } });
      return authenticator
        .authenticate({ request, address: "192.0.2.1", incoming: undefined, anonymous: null })
        .catch((error: HttpError) => error);
    };
    for (let wrong = 0; wrong < 5; wrong += 1) {
      expect(await ask("wrong")).toMatchObject({ status: 401 });
      at += 1_000;
    }
    const refused = await ask(secret);
    expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "55" } });
    // It comes more often than it was told to; what was not looked at is not held against it.
    for (let second = 0; second < 54; second += 1) {
      at += 1_000;
      expect(await ask(secret)).toMatchObject({ status: 429 });
    }
    at += 1_000;
    expect(await ask(secret)).toMatchObject({ role: "viewer" });
    await hf.close();
  });

  it("while the store is away callers are known, get 503, and the process stays alive", async () => {
    let isAway = false;
    served = await serve("sqlite", {}, { link: (store) => leaving(store, () => isAway) });
    const token = await served.token("viewer");
    expect((await served.call("GET", "/api/v1/jobs", { token })).status).toBe(200);
    isAway = true;
    const away = await served.call("GET", "/api/v1/jobs", { token });
    expect(away).toMatchObject({ status: 503, json: { error: { code: "store_unavailable" } } });
    expect(Number(away.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(away.text).not.toContain("planned outage");
    expect((await served.call("GET", "/api/v1/me", { token })).status).toBe(200);
    expect((await served.call("GET", "/readyz", { token: null })).json.data).toMatchObject({
      ...{ ok: false, store: false },
    });
    expect((await served.call("GET", "/healthz", { token: null })).status).toBe(200);
    expect((await served.call("GET", "/metrics", { token })).text).toContain("holdfast_store_up 0");
    isAway = false;
    expect((await served.call("GET", "/api/v1/jobs", { token })).status).toBe(200);
    expect((await served.call("GET", "/readyz", { token: null })).status).toBe(200);
  });

  it("options that are mistakes stop the start and say what to do", async () => {
    const hf = new Holdfast({ store: memoryStore() });
    const start = (options: object) => () => createServer(hf, options);
    expect(start({ readonly: true })).toThrow(/readOnly/);
    expect(start({ auth: { adminToken: "short" } })).toThrow(/16 characters/);
    expect(start({ auth: { jwt: { secret: "short" } } })).toThrow(/32 characters/);
    expect(start({ auth: { jwt: {} } })).toThrow(/secret or a jwksUrl/);
    expect(start({ basePath: "jobs/" })).toThrow(/basePath/);
    expect(start({ trustedProxies: ["everybody"] })).toThrow(/addresses/);
    expect(start({ maxBodyBytes: 0 })).toThrow(/maxBodyBytes/);
    await hf.close();
  });
});

/** A store that can be away; who is known already is asked for in it as well. */
function leaving(store: Store, isAway: () => boolean): Store {
  const wrap = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(owner, name, receiver) {
        const member: unknown = Reflect.get(owner, name, receiver);
        if (name === "records" || name === "ledger") return wrap(member as object);
        if (typeof member !== "function" || ["info", "onWakeup", "close"].includes(String(name))) {
          return member;
        }
        return (...args: unknown[]) =>
          isAway()
            ? Promise.reject(
                new StoreUnavailableError("planned outage of sqlite at /tmp/x", {
                  mayHaveHappened: false,
                }),
              )
            : (Reflect.apply(member, owner, args) as unknown);
      },
    });
  return wrap(store);
}
