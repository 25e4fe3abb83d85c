import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as errors from "./errors.ts";
import {
  HoldfastError,
  InvalidOptionError,
  RetryAfterError,
  StoreUnavailableError,
} from "./errors.ts";

type ErrorClass = new (...args: unknown[]) => HoldfastError;

const classes = Object.entries(errors).filter(([, Class]) => Class !== HoldfastError);

function make(name: string, Class: unknown): HoldfastError {
  const args = name === "RetryAfterError" ? [5] : ["message", { mayHaveHappened: true }];
  return Reflect.construct(Class as ErrorClass, args) as HoldfastError;
}

/** The rows of all tables in the reference, by class. */
function documented(): Map<
  string,
  { code: string; retryable: string; when: string; todo: string }
> {
  const page = readFileSync(
    new URL("../../../../docs/reference/errors.md", import.meta.url),
    "utf8",
  );
  const rows = new Map<string, { code: string; retryable: string; when: string; todo: string }>();
  // What other packages throw is on the same page, below: their own tests read that.
  const [own = ""] = page.split("\n## Other packages");
  for (const line of own.split("\n").filter((text) => text.startsWith("| `"))) {
    const cells = line.split("|").map((cell) => cell.trim().replaceAll("`", ""));
    const [, name = "", code = "", retryable = "", when = "", todo = ""] = cells;
    expect(rows.has(name), `${name} is listed twice`).toBe(false);
    rows.set(name, { code, retryable, when, todo });
  }
  return rows;
}

describe("docs/reference/errors.md", () => {
  const rows = documented();

  it("lists exactly the classes there are", () => {
    expect([...rows.keys()].toSorted()).toEqual(classes.map(([name]) => name).toSorted());
  });

  it.each(classes)("tells the truth about %s", (name, Class) => {
    const error = make(name, Class);
    expect(rows.get(name)).toMatchObject({
      code: error.code,
      retryable: error.isRetryable ? "yes" : "no",
    });
    expect(rows.get(name)?.when).toMatch(/\.$/);
    expect(rows.get(name)?.todo).toMatch(/\.$/);
  });
});

describe("every error", () => {
  it.each(classes)(
    "%s is a HoldfastError named after its class, with a code made of its name",
    (name, Class) => {
      const error = make(name, Class);
      expect(error).toBeInstanceOf(HoldfastError);
      expect(error).toBeInstanceOf(Error);
      expect(error.name).toBe(name);
      const words = name.replace(/Error$/, "").replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_");
      expect(error.code).toBe(`HOLDFAST_${words.toUpperCase()}`);
    },
  );

  it("carries a cause only if it was given one", () => {
    const cause = new Error("why");
    expect(new InvalidOptionError("m", { cause }).cause).toBe(cause);
    expect("cause" in new InvalidOptionError("m")).toBe(false);
    expect("cause" in new InvalidOptionError("m", { cause: undefined })).toBe(true);
  });
});

it("StoreUnavailableError says whether it may have happened", () => {
  const cause = new Error("socket");
  const error = new StoreUnavailableError("m", { mayHaveHappened: true, cause });
  expect(error).toMatchObject({ mayHaveHappened: true, cause });
});

it("RetryAfterError refuses a time that makes no sense", () => {
  expect(new RetryAfterError(0).afterMs).toBe(0);
  for (const ms of [-1, NaN, Infinity, "5" as unknown as number]) {
    expect(() => new RetryAfterError(ms)).toThrow(InvalidOptionError);
  }
});
