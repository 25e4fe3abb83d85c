/**
 * How a receiver knows that an alert is ours and fresh: `Holdfast-Signature: t=<seconds>,v1=<hex>`, an
 * HMAC-SHA-256 of `<seconds>.<body>` under the shared secret.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { InvalidOptionError } from "../../core/errors.ts";
import { checkOptions, checkWhole } from "../../core/option-checks.ts";

export const SIGNATURE_HEADER = "Holdfast-Signature";
const TOLERANCE_MS = 5 * 60_000;

export interface VerifyWebhookOptions {
  /** As it arrived, not parsed and written again. */
  readonly body: string | Uint8Array;
  /** The header `Holdfast-Signature`. */
  readonly signature: string | undefined | null;
  /** Several while one is replaced by another. */
  readonly secret: string | readonly string[];
  /** How old it may be. Default five minutes. */
  readonly toleranceMs?: number | undefined;
  /** Default: now. */
  readonly now?: Date | undefined;
}

export function signatureOf(body: string, secret: string, seconds: number): string {
  return `t=${seconds},v1=${digest(body, secret, seconds).toString("hex")}`;
}

/** Is it ours, and fresh? Compares in constant time; false for whatever is malformed. */
export function verifyWebhook(options: VerifyWebhookOptions): boolean {
  checkOptions("verifyWebhook", options, ["body", "signature", "secret", "toleranceMs", "now"]);
  const { body, signature, secret, now = new Date() } = options;
  const toleranceMs = checkWhole("toleranceMs", options.toleranceMs ?? TOLERANCE_MS, {
    min: 1_000,
    max: 86_400_000,
  });
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0 || !secrets.every((one) => typeof one === "string" && one !== "")) {
    throw new InvalidOptionError(
      "verifyWebhook needs the secret of the webhook, or a list of them",
    );
  }
  const found = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature ?? "");
  if (!found) return false;
  const seconds = Number(found[1]);
  if (Math.abs(now.getTime() - seconds * 1_000) > toleranceMs) return false;
  const given = Buffer.from(found[2]!, "hex");
  // Every secret is tried, so that the time does not tell which one fits.
  const fits = secrets.map((one) => timingSafeEqual(given, digest(body, one as string, seconds)));
  return fits.includes(true);
}

function digest(body: string | Uint8Array, secret: string, seconds: number): Buffer {
  return createHmac("sha256", secret).update(`${seconds}.`).update(body).digest();
}
