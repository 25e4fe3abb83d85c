import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { classifyError, reclassify } from "./classify.ts";
import {
  JobTimeoutError,
  PayloadValidationError,
  PermanentError,
  RetryAfterError,
  StoreUnavailableError,
} from "./errors.ts";
import { ERROR_CATEGORIES, type ErrorCategory } from "./job.ts";

const category = (error: unknown) => classifyError(error).category;
const withCode = (code: unknown, message = "failed") => Object.assign(new Error(message), { code });
const withStatus = (status: unknown) => Object.assign(new Error("failed"), { status });

describe("HTTP status", () => {
  const expected: [number, ErrorCategory, boolean][] = [
    [400, "validation", true],
    [401, "auth", true],
    [402, "validation", true],
    [403, "auth", true],
    [404, "unknown", false],
    [405, "validation", true],
    [408, "timeout", false],
    [409, "unknown", false],
    [410, "validation", true],
    [422, "validation", true],
    [425, "unknown", false],
    [429, "rate_limit", false],
    [499, "validation", true],
    [500, "network", false],
    [502, "network", false],
    [503, "network", false],
    [504, "timeout", false],
    [599, "network", false],
  ];

  it.each(expected)("%i is %s, permanent: %s", (status, wanted, permanent) => {
    expect(classifyError(withStatus(status))).toEqual({
      category: wanted,
      permanent,
      retryAfterMs: null,
    });
  });

  it("is found wherever libraries keep it", () => {
    const places = [
      { status: 401 },
      { statusCode: 401 },
      { response: { status: 401 } },
      { response: { statusCode: 401 } },
      { status: "401" },
      { code: 401 },
      { code: "401" },
      new Response(null, { status: 401 }),
    ];
    for (const error of places) expect(category(error)).toBe("auth");
  });

  it("is nothing but a number from 400 to 599", () => {
    for (const status of [200, 399, 600, 0, -401, 401.5, NaN, "dead", "4010", null, {}, true]) {
      expect(category(withStatus(status))).toBe("unknown");
    }
  });

  it("is not read from the codes of MongoDB", () => {
    expect(category(Object.assign(withCode(403), { name: "MongoServerError" }))).toBe("unknown");
  });
});

describe("codes and names", () => {
  const expected: [ErrorCategory, unknown[]][] = [
    ["rate_limit", [withCode("RATELIMIT_EXCEEDED"), { body: { category: "RATE_LIMITS" } }]],
    [
      "auth",
      [
        withCode("MISSING_SCOPES"),
        { body: { category: "MISSING_SCOPES" } },
        { response: { data: { category: "MISSING_SCOPES" } } },
      ],
    ],
    [
      "validation",
      [
        withCode("ENOENT"),
        z.string().safeParse(1).error,
        new PayloadValidationError("x", []),
        Object.assign(new Error("x"), { name: "ValidationError" }),
      ],
    ],
    [
      "timeout",
      [
        withCode("ETIMEDOUT"),
        withCode("ESOCKETTIMEDOUT"),
        withCode("UND_ERR_HEADERS_TIMEOUT"),
        new JobTimeoutError("took too long"),
        new DOMException("late", "TimeoutError"),
        withCode("ECONNABORTED", "timeout of 5000ms exceeded"),
      ],
    ],
    [
      "network",
      [
        ...[
          "ECONNRESET",
          "ECONNREFUSED",
          "ECONNABORTED",
          "EAI_AGAIN",
          "ENOTFOUND",
          "EPIPE",
          "UND_ERR_SOCKET",
        ].map((code) => withCode(code)),
        Object.assign(withCode("ENOENT"), { syscall: "connect" }),
      ],
    ],
    [
      "unknown",
      [
        withCode("EACCES"),
        withCode("HOLDFAST_STEP"),
        new DOMException("stop", "AbortError"),
        new TypeError("x is not a function"),
      ],
    ],
  ];

  it.each(expected)("%s", (wanted, errors) => {
    for (const error of errors) expect(category(error)).toBe(wanted);
  });

  it("a real AbortSignal.timeout is a timeout", async () => {
    const signal = AbortSignal.timeout(0);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    expect(category(signal.reason)).toBe("timeout");
  });

  it("a real refused fetch is a network failure", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    const url = `http://127.0.0.1:${port}`;
    const error: unknown = await fetch(url).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect(category(error)).toBe("network");
  });
});

describe("messages", () => {
  it("are believed when nothing better is known", () => {
    expect(category(new TypeError("fetch failed"))).toBe("network");
    expect(category(new Error("socket hang up"))).toBe("network");
    expect(category(new Error("Connection terminated unexpectedly"))).toBe("network");
    expect(category(new Error("Query timed out after 5 s"))).toBe("timeout");
    expect(category(new Error("request timeout"))).toBe("timeout");
    expect(category(new Error("Too Many Requests"))).toBe("rate_limit");
    expect(category("connection refused")).toBe("network");
  });

  it("weigh less than a status or code, also of a cause", () => {
    expect(
      category(new TypeError("fetch failed", { cause: withCode("UND_ERR_CONNECT_TIMEOUT") })),
    ).toBe("timeout");
    expect(category(Object.assign(new Error("timeout while checking"), { status: 404 }))).toBe(
      "unknown",
    );
  });

  it("never make an error permanent", () => {
    for (const message of [
      "unauthorized",
      "401",
      "forbidden",
      "invalid payload",
      "ENOENT",
      "validation failed",
    ]) {
      expect(classifyError(new Error(message)).permanent).toBe(false);
    }
  });
});

describe("causes", () => {
  it("are looked at when the error itself says nothing", () => {
    const cause = new Error("inner", { cause: withStatus(403) });
    expect(category(new Error("sync failed", { cause }))).toBe("auth");
    expect(category(new AggregateError([withCode("ECONNREFUSED")]))).toBe("network");
  });

  it("yield to the error that wraps them", () => {
    expect(
      category(Object.assign(new Error("x", { cause: withStatus(401) }), { status: 503 })),
    ).toBe("network");
  });

  it("may form a circle or a very long chain", () => {
    const circle = new Error("a");
    circle.cause = new Error("b", { cause: circle });
    expect(category(circle)).toBe("unknown");
    let long: unknown = withStatus(401);
    for (let depth = 0; depth < 10_000; depth++) long = new Error("x", { cause: long });
    expect(category(long)).toBe("unknown");
  });
});

describe("PermanentError", () => {
  it("is permanent, with the category of its cause", () => {
    expect(classifyError(new PermanentError("timeout, and that is that"))).toEqual({
      category: "unknown",
      permanent: true,
      retryAfterMs: null,
    });
    expect(classifyError(new PermanentError("gone", { cause: withStatus(503) }))).toMatchObject({
      category: "network",
      permanent: true,
    });
  });

  it("is permanent inside another error, and stronger than a Retry-After", () => {
    expect(classifyError(new Error("x", { cause: new PermanentError("no") })).permanent).toBe(true);
    expect(classifyError(new PermanentError("no", { cause: new RetryAfterError(5) }))).toEqual({
      category: "rate_limit",
      permanent: true,
      retryAfterMs: null,
    });
  });

  it("is known by its code, also from another copy of the package", () => {
    expect(classifyError(withCode("HOLDFAST_PERMANENT")).permanent).toBe(true);
  });
});

describe("coming back later", () => {
  it("RetryAfterError says when, also as a cause", () => {
    const wanted = { category: "rate_limit", permanent: false, retryAfterMs: 1500 };
    expect(classifyError(new RetryAfterError(1500))).toEqual(wanted);
    expect(classifyError(new Error("x", { cause: new RetryAfterError(1499.5) }))).toEqual(wanted);
  });

  it("a 429 says when by its header", () => {
    const error = { response: { status: 429, headers: new Headers({ "Retry-After": "7" }) } };
    expect(classifyError(error)).toEqual({
      category: "rate_limit",
      permanent: false,
      retryAfterMs: 7000,
    });
    expect(classifyError({ status: 429, headers: { "retry-after": "7" } }).retryAfterMs).toBe(7000);
    expect(
      classifyError(new Response(null, { status: 429, headers: { "retry-after": "2" } }))
        .retryAfterMs,
    ).toBe(2000);
    expect(classifyError(withStatus(429)).retryAfterMs).toBe(null);
  });

  it("a client that has read the header itself says when in its error", () => {
    const error = Object.assign(withStatus(429), { retryAfterMs: 1_000 });
    expect(classifyError(error).retryAfterMs).toBe(1_000);
    expect(classifyError(new Error("x", { cause: error })).retryAfterMs).toBe(1_000);
    for (const retryAfterMs of [null, -1, "1", Number.NaN]) {
      expect(classifyError({ status: 429, retryAfterMs }).retryAfterMs).toBe(null);
    }
    expect(classifyError({ status: 503, retryAfterMs: 1_000 }).retryAfterMs).toBe(null);
  });

  it("a date needs to know what time it is", () => {
    const headers = { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" };
    const nowMs = Date.UTC(2015, 9, 21, 7, 27, 30);
    expect(classifyError({ status: 429, headers }, { nowMs }).retryAfterMs).toBe(30_000);
    expect(classifyError({ status: 429, headers }).retryAfterMs).toBe(null);
  });

  it("the header of another failure spends attempts as usual", () => {
    expect(classifyError({ status: 503, headers: { "retry-after": "7" } }).retryAfterMs).toBe(null);
  });
});

it("a store that does not answer is judged by its cause", () => {
  const cause = withCode("ECONNREFUSED");
  expect(category(new StoreUnavailableError("away", { cause, mayHaveHappened: false }))).toBe(
    "network",
  );
});

describe("whatever is thrown", () => {
  it("gets an answer", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withMap: true }), (thrown) => {
        const { category: found, permanent, retryAfterMs } = classifyError(thrown);
        expect(ERROR_CATEGORIES).toContain(found);
        expect(typeof permanent).toBe("boolean");
        expect(retryAfterMs === null || retryAfterMs >= 0).toBe(true);
      }),
    );
    for (const thrown of [undefined, null, 0, "", Symbol("x"), () => 1, []]) {
      expect(category(thrown)).toBe("unknown");
    }
  });

  it("gets an answer even if it resists being looked at", () => {
    const trap = () => {
      throw new Error("no");
    };
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const thrown of [
      proxy,
      new Proxy({}, { get: trap, getPrototypeOf: trap, ownKeys: trap }),
    ]) {
      expect(classifyError(thrown)).toEqual({
        category: "unknown",
        permanent: false,
        retryAfterMs: null,
      });
    }
    const headers = new Proxy({}, { get: trap, ownKeys: trap });
    expect(classifyError({ status: 429, headers }).retryAfterMs).toBe(null);
    const endless: unknown = new Proxy({}, { get: () => endless });
    expect(category(endless)).toBe("unknown");
  });
});

describe("reclassify", () => {
  const found = { category: "unknown", permanent: false, retryAfterMs: 500 } as const;

  it("leaves everything as it is when nothing, or nonsense, is said", () => {
    for (const said of [
      undefined,
      null,
      "",
      "fatal",
      5,
      {},
      { category: "x", permanent: "yes", retryAfterMs: NaN },
    ]) {
      expect(reclassify(found, said)).toEqual(found);
    }
  });

  it("takes a category, which decides whether it is permanent", () => {
    expect(reclassify(found, "network")).toEqual({ ...found, category: "network" });
    expect(reclassify(found, "auth")).toEqual({
      category: "auth",
      permanent: true,
      retryAfterMs: null,
    });
    expect(reclassify(found, { category: "validation" }).permanent).toBe(true);
    const permanent = { category: "auth", permanent: true, retryAfterMs: null } as const;
    expect(reclassify(permanent, "network").permanent).toBe(false);
  });

  it("takes any part of a classification", () => {
    expect(reclassify(found, { permanent: true })).toEqual({
      category: "unknown",
      permanent: true,
      retryAfterMs: null,
    });
    expect(reclassify(found, { category: "auth", permanent: false }).permanent).toBe(false);
    expect(reclassify(found, { retryAfterMs: 7.5 }).retryAfterMs).toBe(8);
    expect(reclassify(found, { retryAfterMs: null }).retryAfterMs).toBe(null);
  });
});
