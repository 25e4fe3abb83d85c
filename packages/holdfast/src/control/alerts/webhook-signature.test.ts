import { describe, expect, it } from "vitest";
import { signatureOf, verifyWebhook } from "./webhook-signature.ts";

const secret = "whsec_0123456789";
const body = JSON.stringify({ kind: "dead", message: "é" });
const now = new Date(1_800_000_000_000);
const seconds = 1_800_000_000;
const signature = signatureOf(body, secret, seconds);

describe("the signature of a webhook", () => {
  it("is what a receiver computes from secret, time and body", () => {
    expect(verifyWebhook({ body, signature, secret, now })).toBe(true);
    expect(verifyWebhook({ body: Buffer.from(body), signature, secret, now })).toBe(true);
    expect(signature).toMatch(/^t=1800000000,v1=[0-9a-f]{64}$/);
  });

  it("does not fit another body, secret or time", () => {
    expect(verifyWebhook({ body: `${body} `, signature, secret, now })).toBe(false);
    expect(verifyWebhook({ body, signature, secret: "other", now })).toBe(false);
    const moved = signature.replace("t=1800000000", "t=1800000001");
    expect(verifyWebhook({ body, signature: moved, secret, now })).toBe(false);
  });

  it("is not accepted again after five minutes, nor from the future", () => {
    const at = (ms: number) => new Date(now.getTime() + ms);
    expect(verifyWebhook({ body, signature, secret, now: at(299_000) })).toBe(true);
    expect(verifyWebhook({ body, signature, secret, now: at(301_000) })).toBe(false);
    expect(verifyWebhook({ body, signature, secret, now: at(-301_000) })).toBe(false);
    const patient = { body, signature, secret, now: at(301_000), toleranceMs: 600_000 };
    expect(verifyWebhook(patient)).toBe(true);
  });

  it("may be of either secret while one is replaced", () => {
    expect(verifyWebhook({ body, signature, secret: ["new", secret], now })).toBe(true);
    expect(verifyWebhook({ body, signature, secret: ["new", "newer"], now })).toBe(false);
  });

  it("is refused, not thrown at, when it is malformed", () => {
    for (const bad of [undefined, null, "", "v1=00", "t=1,v1=zz", `${signature},v1=00`]) {
      expect(verifyWebhook({ body, signature: bad, secret, now })).toBe(false);
    }
    expect(() => verifyWebhook({ body, signature, secret: "" })).toThrow(/needs the secret/);
    expect(() => verifyWebhook({ body, signature, secret, tolerance: 1 } as never)).toThrow(
      /toleranceMs/,
    );
  });
});
