/** A plain JSON API: resources with ids of our own, written by PUT, so that a repetition changes nothing. */
import { HoldfastError, InvalidOptionError } from "holdfast";
import { freeCalls, type Calls } from "../calls.ts";
import { checkWords } from "../check-words.ts";

export interface RestClientOptions {
  /** `https://crm.example.com/api` */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default 30 s. */
  readonly timeoutMs?: number | undefined;
  readonly calls?: Calls | undefined;
}

/** A REST target refused a call, or could not be reached. The library reads its status and its headers. */
export class RestError extends HoldfastError {
  readonly code = "HOLDFAST_REST";
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  override readonly isRetryable: boolean;

  constructor(
    message: string,
    details: {
      readonly status: number | null;
      readonly headers?: Readonly<Record<string, string>>;
      readonly cause?: unknown;
    },
  ) {
    super(message, "cause" in details ? { cause: details.cause } : {});
    const { status, headers = {} } = details;
    this.status = status;
    this.headers = headers;
    this.isRetryable = status === null || status === 429 || status >= 500;
  }
}

const STEP = /^[\w.~@:+-]{1,200}$/;

export class RestClient {
  readonly #options: RestClientOptions;
  readonly #calls: Calls;

  constructor(options: RestClientOptions) {
    checkWords("new RestClient", options, ["baseUrl", "token", "headers", "timeoutMs", "calls"]);
    const url = typeof options.baseUrl === "string" ? URL.parse(options.baseUrl) : null;
    if (!url || !/^https?:$/.test(url.protocol)) {
      throw new InvalidOptionError("baseUrl is an address such as https://crm.example.com/api");
    }
    // A call would fail with the whole address, and what it hides, in its error.
    if (url.username + url.password + url.search + url.hash !== "") {
      throw new InvalidOptionError(
        "baseUrl has no user, no ? and no #: give credentials as token or headers",
      );
    }
    this.#options = options;
    this.#calls = options.calls ?? freeCalls;
  }

  put(resource: string, id: string, body: unknown, signal?: AbortSignal): Promise<void> {
    return this.#call("PUT", resource, id, body, signal);
  }

  /** One that is not there is removed already. */
  async remove(resource: string, id: string, signal?: AbortSignal): Promise<void> {
    try {
      await this.#call("DELETE", resource, id, undefined, signal);
    } catch (error) {
      if (!(error instanceof RestError) || (error.status !== 404 && error.status !== 410))
        throw error;
    }
  }

  async #call(
    method: string,
    resource: string,
    id: string,
    body: unknown,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { baseUrl, token, headers = {}, timeoutMs = 30_000 } = this.#options;
    const steps = [...resource.split("/"), id];
    if (steps.some((step) => !STEP.test(step) || /^\.+$/.test(step))) {
      throw new InvalidOptionError("a resource and an id are plain words: no spaces, no ?, no ..");
    }
    await this.#calls.acquire("call", signal);
    const path = steps.map(encodeURIComponent).join("/");
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const reply = await fetch(`${baseUrl.replace(/\/$/, "")}/${path}`, {
        method,
        headers: {
          ...headers,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: "error",
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      await reply.body?.cancel();
      if (reply.ok) return;
      const told = Object.fromEntries(reply.headers);
      throw new RestError(`${method} ${resource} was answered with ${reply.status}`, {
        ...{ status: reply.status, headers: told },
      });
    } catch (error) {
      if (error instanceof RestError) throw error;
      signal?.throwIfAborted();
      throw new RestError(`${method} ${resource} had no answer`, { status: null, cause: error });
    }
  }
}
