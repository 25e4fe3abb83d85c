/**
 * One POST to an address that was checked. The name is resolved once; every address it has must be public, and the
 * connection goes to those very addresses, so that an answer that changes between check and use changes
 * nothing. Redirects are not followed: the second place would be unchecked. Of the answer no more than
 * 64 KiB are read, and nothing of it is kept.
 */
import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { PermanentError, PrivateAddressError, WebhookError } from "../../core/errors.ts";
import { http, https } from "./http-modules.ts";
import { bareHost, isPrivateAddress, isPrivateHost } from "./private-address.ts";

const MOST_READ = 64 * 1024;

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name. */
export type Resolve = (host: string) => Promise<readonly Address[]>;

export interface PostOptions {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly resolve?: Resolve;
}

/** Resolves if the answer is 2xx; else throws what tells whether to try again. */
export async function post(url: URL, options: PostOptions): Promise<void> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]);
  const addresses = await checkedAddresses(url, options, signal);
  const answer = await exchange(url, { ...options, signal, addresses });
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return;
  if (status >= 300 && status < 400) {
    throw new PermanentError(
      `the webhook answered ${status}: redirects are not followed; give the URL that it leads to`,
    );
  }
  throw new WebhookError(`the webhook answered ${status}`, { status, headers });
}

async function checkedAddresses(
  url: URL,
  { allowPrivate, resolve = resolveAll }: PostOptions,
  signal: AbortSignal,
): Promise<readonly Address[]> {
  const host = bareHost(url.hostname);
  if (!allowPrivate && isPrivateHost(url.hostname)) throw refused();
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const addresses = await inTime(resolve(host), signal);
  if (addresses.length === 0) throw new WebhookError("the webhook's name has no address");
  if (!allowPrivate && addresses.some(({ address }) => isPrivateAddress(address))) throw refused();
  return addresses;
}

function exchange(
  url: URL,
  options: PostOptions & { readonly addresses: readonly Address[] },
): Promise<{ readonly status: number; readonly headers: IncomingMessage["headers"] }> {
  const { body, headers, signal, addresses } = options;
  const { request } = url.protocol === "https:" ? https() : http();
  const { promise, resolve, reject } =
    Promise.withResolvers<Awaited<ReturnType<typeof exchange>>>();
  const sent = request(url, {
    ...{ method: "POST", signal, agent: false },
    headers: { ...headers, "Content-Length": Buffer.byteLength(body) },
    // Instead of asking again: what was checked is what is used.
    lookup: (_host, { all }, found) => {
      const [first] = addresses as [Address, ...Address[]];
      if (all) found(null, [...addresses]);
      else found(null, first.address, first.family);
    },
  });
  sent.on("error", (error) => reject(signal.aborted ? outOfTime(error) : error));
  sent.on("response", (answer) => {
    const done = () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers });
    let read = 0;
    answer.on("data", (chunk: Buffer) => {
      read += chunk.length;
      if (read <= MOST_READ) return;
      done();
      sent.destroy();
    });
    answer.on("end", done);
    answer.on("error", (error) => reject(signal.aborted ? outOfTime(error) : error));
  });
  sent.end(body);
  return promise;
}

async function resolveAll(host: string): Promise<readonly Address[]> {
  return lookup(host, { all: true });
}

/** A resolver cannot be stopped; its answer is not waited for. */
async function inTime<Out>(answer: Promise<Out>, signal: AbortSignal): Promise<Out> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(outOfTime(signal.reason));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([answer, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function outOfTime(cause: unknown): WebhookError {
  return new WebhookError("the webhook did not answer in time", { status: 408, cause });
}

function refused(): PrivateAddressError {
  return new PrivateAddressError(
    "the webhook leads to this machine or to a private network: use a public address, or say allowPrivate: true",
  );
}
