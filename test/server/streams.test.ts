/** Who may stay in a stream of events, for how long, and what is seen there. */
import { SignJWT } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import { listenTo } from "./listen-events.ts";
import { openHub } from "./open-hub.ts";
import { serve, type Served } from "./served.ts";

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

async function served(...given: Parameters<typeof serve>): Promise<Served> {
  const own = await serve(...given);
  closings.push(() => own.close());
  return own;
}

const KEY = "a-shared-secret-of-more-than-32-characters";
const signed = (endsInS: number) =>
  new SignJWT({ role: "viewer" })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject("ada")
    .setExpirationTime(Math.floor(Date.now() / 1_000) + endsInS)
    .sign(new TextEncoder().encode(KEY));

describe("a stream of events", () => {
  it("shows a caller of no queue at all nothing of any queue", async () => {
    const user = () => ({ name: "nobody", role: "viewer", queues: [] }) as const;
    const own = await served("sqlite", { auth: { adminToken: "of-an-admin-of-all", user } });
    await own.hf.enqueue("mail.send", {}, { queue: "mail", delayMs: 60_000 });
    const all = await listenTo(own.url, "", { authorization: "Bearer of-an-admin-of-all" });
    expect((await all.next("overview")).data.queueCount).toBe(1);
    const none = await listenTo(own.url, "", {}, null);
    for (let looks = 0; looks < 2; looks += 1) {
      const { data } = await none.next("overview");
      expect(data).toMatchObject({ queueCount: 0, queues: [] });
      expect(JSON.stringify(data)).not.toContain("mail");
    }
    for (const ear of [all, none]) ear.close();
  });

  it("is not kept open for a HEAD, which nobody reads", async () => {
    const own = await served("sqlite", { events: { maxPerCaller: 2 } });
    for (let asked = 0; asked < 4; asked += 1) {
      expect((await own.call("HEAD", "/api/v1/events")).status).toBe(200);
    }
    const ear = await listenTo(own.url);
    await ear.next("overview");
    ear.close();
  });

  it("ends with the JSON Web Token that opened it", async () => {
    const own = await served("sqlite", { auth: { jwt: { secret: KEY } } });
    const ear = await listenTo(own.url, "", {}, await signed(6));
    const longer = await listenTo(own.url, "", {}, await signed(3_600));
    await ear.next("overview");
    await expect(ear.next("never")).rejects.toThrow("it ended before never came");
    await longer.next("overview");
    longer.close();
  });
});

describe("the hub of events", () => {
  it("lets go of who was found by a function, and must be asked about again", async () => {
    const { own, time, listen, close } = openHub();
    closings.push(close);
    const [one, other] = [listen({}, 60_000), listen({}, null)];
    await one.next();
    time.now = 59_999;
    await one.next();
    time.now = 60_000;
    while (!(await one.next()).done);
    expect((await other.next()).done).toBe(false);
    expect(own.size).toBe(1);
  });
});
