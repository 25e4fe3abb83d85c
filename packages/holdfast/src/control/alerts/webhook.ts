/** A webhook: alerts as signed JSON to a URL. Made by `webhook()`, which checks all that can be known by then. */
import { createHash } from "node:crypto";
import type { Alert } from "../../core/alert.ts";
import { InvalidOptionError, PrivateAddressError } from "../../core/errors.ts";
import { checkObject, checkOptions, checkWhole } from "../../core/option-checks.ts";
import { cleanText } from "../../core/text.ts";
import { http } from "./http-modules.ts";
import { bareHost, isPrivateHost } from "./private-address.ts";
import { post, type Resolve } from "./post.ts";
import { SIGNATURE_HEADER, signatureOf } from "./webhook-signature.ts";

export interface WebhookOptions {
  readonly url: string | URL;
  /** Shared with the receiver, who checks the signature with it: see `verifyWebhook`. */
  readonly secret: string;
  /** Sent along, for receivers that ask for some. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Lets it go to this machine and to private networks. Default false. */
  readonly allowPrivate?: boolean | undefined;
  /** Besides 80 and 443. With `allowPrivate` every port may be used. */
  readonly ports?: readonly number[] | undefined;
  /** For the whole exchange. Default 10 s. */
  readonly timeoutMs?: number | undefined;
}

const OPTIONS = ["url", "secret", "headers", "allowPrivate", "ports", "timeoutMs"];
const USUAL_PORTS = [80, 443];
/** What the exchange itself needs, and what says who we are. */
const OURS =
  /^(host|content-length|content-type|transfer-encoding|connection|expect|upgrade|holdfast-.*)$/i;

export function webhook(options: WebhookOptions): Webhook {
  return new Webhook(options);
}

export class Webhook {
  /** Names it in jobs, without its URL: that may be a secret. */
  readonly key: string;
  readonly #url: URL;
  readonly #secret: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #allowPrivate: boolean;
  readonly #timeoutMs: number;

  constructor(options: WebhookOptions) {
    checkOptions("webhook", options, OPTIONS);
    const { url, secret, headers = {}, allowPrivate = false, ports = [] } = options;
    if (typeof secret !== "string" || secret === "") {
      throw new InvalidOptionError("webhook needs a secret: a text that its receiver knows, too");
    }
    if (typeof allowPrivate !== "boolean") {
      throw new InvalidOptionError("webhook: allowPrivate must be true or false");
    }
    checkHeaders(headers);
    if (!Array.isArray(ports)) throw new InvalidOptionError("webhook: ports is a list of numbers");
    for (const port of ports) checkWhole("webhook: a port", port, { min: 1, max: 65_535 });
    this.#url = checkUrl(url, { allowPrivate, ports: [...USUAL_PORTS, ...(ports as number[])] });
    this.#secret = secret;
    this.#headers = { ...headers };
    this.#allowPrivate = allowPrivate;
    this.#timeoutMs = checkWhole("webhook: timeoutMs", options.timeoutMs ?? 10_000, {
      min: 100,
      max: 60_000,
    });
    const hash = createHash("sha256").update(this.#url.href).digest("hex");
    this.key = `webhook:${hash.slice(0, 16)}`;
  }

  /** Where it goes, for people: no path and no query, since those may be secrets. */
  get place(): string {
    return this.#url.origin;
  }

  /** Resolves once the receiver has taken it. */
  async send(
    alert: Alert,
    how: { readonly now: number; readonly signal: AbortSignal; readonly resolve?: Resolve },
  ): Promise<void> {
    const body = JSON.stringify(alert);
    await post(this.#url, {
      ...{ body, allowPrivate: this.#allowPrivate, timeoutMs: this.#timeoutMs },
      ...{ signal: how.signal, ...(how.resolve && { resolve: how.resolve }) },
      headers: {
        "User-Agent": "holdfast",
        ...this.#headers,
        "Content-Type": "application/json",
        "Holdfast-Alert": alert.id,
        [SIGNATURE_HEADER]: signatureOf(body, this.#secret, Math.floor(how.now / 1_000)),
      },
    });
  }
}

function checkUrl(
  given: unknown,
  { allowPrivate, ports }: { readonly allowPrivate: boolean; readonly ports: readonly number[] },
): URL {
  const url = parsed(given);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new InvalidOptionError("webhook needs a URL that begins with https:// or http://");
  }
  if (url.username !== "" || url.password !== "") {
    throw new InvalidOptionError(
      "webhook: leave name and password out of the URL, and give them in headers: { Authorization }",
    );
  }
  if (allowPrivate) return url;
  if (isPrivateHost(url.hostname)) {
    throw new PrivateAddressError(
      `webhook: ${cleanText(bareHost(url.hostname), 100)} is this machine or a private network: use a public address, or say allowPrivate: true`,
    );
  }
  const port = url.port === "" ? null : Number(url.port);
  if (port !== null && !ports.includes(port)) {
    throw new InvalidOptionError(
      `webhook: port ${port} is not 80 or 443: name it in ports: [${port}] if it is meant`,
    );
  }
  return url;
}

function parsed(given: unknown): URL | null {
  try {
    return given instanceof URL || typeof given === "string" ? new URL(given) : null;
  } catch {
    return null;
  }
}

function checkHeaders(headers: unknown): void {
  checkObject("webhook: headers", headers);
  for (const [name, value] of Object.entries(headers) as [string, unknown][]) {
    if (OURS.test(name)) {
      throw new InvalidOptionError(
        `webhook: the header ${cleanText(name, 60)} is not yours to set`,
      );
    }
    try {
      http().validateHeaderName(name);
      http().validateHeaderValue(name, value as string);
      if (typeof value !== "string") throw new TypeError("not a text");
    } catch (error) {
      throw new InvalidOptionError(
        `webhook: ${cleanText(name, 60)} is no header with a text as its value`,
        { cause: error },
      );
    }
  }
}
