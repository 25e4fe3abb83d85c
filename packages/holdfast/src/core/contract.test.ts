import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { DEFAULT_RETRY } from "./backoff.ts";
import { defineJob, type JobContract, type JobItem, type JobOptions } from "./contract.ts";
import { InvalidNameError, InvalidOptionError } from "./errors.ts";

const define = (options: Record<string, unknown>) =>
  defineJob({ type: "a", ...options } as JobOptions);

describe("defineJob", () => {
  it("fills in every default", () => {
    expect(defineJob({ type: "email.send" })).toEqual({
      type: "email.send",
      queue: "default",
      payload: null,
      result: null,
      retry: DEFAULT_RETRY,
      timeoutMs: null,
      priority: 100,
      dedupe: null,
      idempotencyTtlMs: null,
      onDuplicate: "return",
      onConflict: "throw",
      classify: null,
      maxCrashes: 3,
      onOutage: "abort",
      guidance: null,
      link: null,
      lock: null,
      tags: [],
      of: expect.any(Function),
    });
  });

  it("keeps what is given", () => {
    const payload = z.object({ to: z.string() });
    const classify = () => "auth" as const;
    const contract = defineJob({
      type: "email.send",
      queue: "mail",
      payload,
      result: z.null(),
      retry: { maxAttempts: 9 },
      timeoutMs: 30_000,
      priority: 0,
      dedupe: "payload",
      idempotencyTtlMs: "until-finished",
      onDuplicate: "throw",
      onConflict: "return",
      classify,
      maxCrashes: 1,
      tags: ["a", "a"],
    });
    expect(contract).toMatchObject({
      queue: "mail",
      timeoutMs: 30_000,
      priority: 0,
      dedupe: "payload",
      maxCrashes: 1,
      tags: ["a"],
    });
    expect(contract.payload).toBe(payload);
    expect(contract.classify).toBe(classify);
    expect(contract.retry).toEqual({ ...DEFAULT_RETRY, maxAttempts: 9 });
  });

  it("cannot be changed afterwards", () => {
    const contract = defineJob({ type: "a", retry: { maxAttempts: 2 } });
    expect(Object.isFrozen(contract)).toBe(true);
    expect(Object.isFrozen(contract.retry)).toBe(true);
    expect(Object.isFrozen(contract.tags)).toBe(true);
  });

  it("refuses bad names", () => {
    for (const options of [
      { type: "" },
      { type: "a b" },
      { type: undefined },
      { queue: "a/b" },
      { tags: ["\0"] },
    ]) {
      expect(() => define(options)).toThrow(InvalidNameError);
    }
  });

  const limits: [string, unknown[], unknown[]][] = [
    ["timeoutMs", [1, 30_000, null], [0, -1, 1.5, NaN, Infinity, "5"]],
    ["priority", [0, 8191], [-1, 8192, NaN]],
    ["maxCrashes", [1, 1000], [0, 1001, 1.5, "3"]],
    ["retry", [{}, { maxAttempts: 1 }], [5, { maxAttempts: 0 }, { factor: -1 }]],
    ["dedupe", ["payload"], ["type", true]],
    ["idempotencyTtlMs", [1, "until-finished"], [0, "for ever"]],
    ["classify", [() => undefined], ["auth", {}]],
    ["payload", [z.string()], [{}, "string", String, 5, null]],
    ["result", [z.string()], [{ parse: () => 1 }]],
  ];

  it.each(limits)("%s: takes its limits, refuses what is beyond", (name, good, bad) => {
    for (const value of good) expect(() => define({ [name]: value })).not.toThrow();
    for (const value of bad) {
      expect(() => define({ [name]: value }), String(value)).toThrow(InvalidOptionError);
      expect(() => define({ [name]: value }), String(value)).toThrow(name);
    }
  });

  it("says where a handler belongs, and which option was meant", () => {
    expect(() => define({ run: () => 1 })).toThrow(/hf\.define.+hf\.handle/);
    expect(() => define({ timeout: 5 })).toThrow('did you mean "timeoutMs"?');
    expect(() => defineJob(undefined as unknown as JobOptions)).toThrow(InvalidOptionError);
  });
});

describe("of", () => {
  const sendEmail = defineJob({
    type: "email.send",
    queue: "mail",
    payload: z.object({ to: z.string() }),
  });

  it("makes an item that carries its contract", () => {
    expect(sendEmail.of({ to: "a" }, { priority: 10 })).toEqual({
      type: "email.send",
      payload: { to: "a" },
      priority: 10,
      contract: sendEmail,
    });
    expect(sendEmail.of({ to: "a" })).toEqual({
      type: "email.send",
      payload: { to: "a" },
      contract: sendEmail,
    });
  });

  it("makes the same kind of item as a literal", () => {
    const items: JobItem[] = [
      sendEmail.of({ to: "a" }),
      { type: "email.send", payload: { to: "b" } },
      { type: "x", payload: 1, delayMs: 5 },
    ];
    expect(items).toHaveLength(3);
  });
});

describe("types", () => {
  it("come from the schemas: input for who enqueues, output for who runs", () => {
    const contract = defineJob({
      type: "report.make",
      payload: z.object({ at: z.string().transform((text) => new Date(text)) }),
      result: z.object({ pages: z.number() }),
    });
    expectTypeOf(contract).toEqualTypeOf<
      JobContract<"report.make", { at: string }, { at: Date }, { pages: number }>
    >();
    // @ts-expect-error: the input is text
    void (() => contract.of({ at: new Date() }));
  });

  it("are unknown where nothing is said", () => {
    expectTypeOf(defineJob({ type: "a" })).toEqualTypeOf<
      JobContract<"a", unknown, unknown, unknown>
    >();
    expectTypeOf(defineJob({ type: "a", result: z.number() })).toEqualTypeOf<
      JobContract<"a", unknown, unknown, number>
    >();
    expectTypeOf(defineJob({ type: "a", payload: z.number() })).toEqualTypeOf<
      JobContract<"a", number, number, unknown>
    >();
  });

  it("can be named without a schema", () => {
    const contract = defineJob<{ to: string }>({ type: "email.send" });
    expectTypeOf(contract).toEqualTypeOf<
      JobContract<string, { to: string }, { to: string }, unknown>
    >();
    expectTypeOf(defineJob<string, { id: string }>({ type: "a" })).toEqualTypeOf<
      JobContract<string, string, string, { id: string }>
    >();
    // @ts-expect-error: `to` is missing
    void (() => contract.of({}));
  });

  it("of every contract fit a list of contracts", () => {
    const jobs: readonly JobContract[] = [
      defineJob({
        type: "a",
        payload: z.object({ at: z.string().transform((text) => new Date(text)) }),
      }),
      defineJob<{ to: string }>({ type: "b" }),
    ];
    expect(jobs).toHaveLength(2);
  });
});
