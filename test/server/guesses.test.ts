/** Who guesses at the admin token of the options is told of five guesses a minute, and no more. */
import { describe, expect, it } from "vitest";
import { Tokens } from "@holdfast/server";
import { Holdfast } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { Authenticator } from "../../packages/server/src/auth/authenticator.ts";
import { Sessions } from "../../packages/server/src/auth/sessions.ts";
import type { HttpError } from "../../packages/server/src/http/http-error.ts";
import { ADMIN_TOKEN } from "./served.ts";

function asked() {
  const hf = new Holdfast({ store: memoryStore() }) as Holdfast;
  const now = () => Date.now();
  const records = hf.tools.ledgerRecords;
  const parts = { tokens: new Tokens(records, now), sessions: new Sessions(records, now), now };
  const authenticator = new Authenticator({ adminToken: ADMIN_TOKEN }, parts);
  return {
    close: () => hf.close(),
    tokens: parts.tokens,
    ask(token: string, address: string): Promise<{ role?: string; status?: number }> {
      const request = new Request("http://us/", { headers: { authorization: `Bearer ${token}` } });
      return authenticator
        .authenticate({ request, address, incoming: undefined, anonymous: null })
        .catch((error: HttpError) => error);
    },
  };
}

describe("guesses at the admin token", () => {
  it("are compared five times a minute for one address, and the right one is no longer told", async () => {
    const { ask, close } = asked();
    for (let wrong = 0; wrong < 5; wrong += 1) {
      expect(await ask("a-guess-at-the-token", "192.0.2.1")).toMatchObject({ status: 401 });
    }
    expect(await ask(ADMIN_TOKEN, "192.0.2.1")).toMatchObject({ status: 429 });
    expect(await ask(ADMIN_TOKEN, "192.0.2.2")).toMatchObject({ role: "admin" });
    await close();
  });

  it("that come together are no more than five", async () => {
    const { ask, close } = asked();
    const wrong = Array.from({ length: 5 }, () => ask("a-guess-at-the-token", "192.0.2.1"));
    const right = ask(ADMIN_TOKEN, "192.0.2.1");
    expect(await right).toMatchObject({ status: 429 });
    await Promise.all(wrong);
    await close();
  });

  it("lock no admin out who was let in from there a moment ago", async () => {
    const { ask, close } = asked();
    expect(await ask(ADMIN_TOKEN, "192.0.2.1")).toMatchObject({ role: "admin" });
    for (let wrong = 0; wrong < 6; wrong += 1) await ask("a-guess-at-the-token", "192.0.2.1");
    expect(await ask(ADMIN_TOKEN, "192.0.2.1")).toMatchObject({ role: "admin" });
    await close();
  });

  it("where no address is known shut nobody out who has a token", async () => {
    const { ask, close, tokens } = asked();
    const given = { role: "viewer", queues: null, name: "", createdBy: "us" } as const;
    const { secret } = await tokens.create({ ...given, expiresAt: null });
    for (let wrong = 0; wrong < 6; wrong += 1) await ask("a-guess-at-the-token", "");
    expect(await ask(secret, "")).toMatchObject({ role: "viewer" });
    expect(await ask(ADMIN_TOKEN, "")).toMatchObject({ status: 429 });
    await close();
  });
});
