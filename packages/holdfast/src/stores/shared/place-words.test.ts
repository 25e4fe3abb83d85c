import { describe, expect, it } from "vitest";
import { addressOf, causeWords, databaseNameOf } from "./place-words.ts";

describe("the words for a place", () => {
  it("name its hosts and database, and never a password", () => {
    const url = "postgres://app:s3cret%40@db.example.com:5433/orders?sslmode=require";
    expect(addressOf(url)).toBe("db.example.com:5433");
    expect(databaseNameOf(url)).toBe("orders");
    expect(addressOf("mongodb://u:p@a:1,b:2/jobs?replicaSet=rs")).toBe("a:1,b:2");
    expect(addressOf("redis://:p@/0")).toBe("the given address");
    expect(databaseNameOf("postgres://h/%E0%A4%A")).toBe("%E0%A4%A");
  });

  it("have the innermost cause, in a word where there is one", () => {
    const refused = Object.assign(new AggregateError([], ""), { code: "ECONNREFUSED" });
    expect(causeWords(new Error("it failed", { cause: refused }))).toBe("ECONNREFUSED");
    expect(causeWords(new Error("bad postgres://u:s3cret@h/d"))).toBe("bad postgres://h/d");
    expect(causeWords(undefined)).toBe("no reason was given");
  });
});
