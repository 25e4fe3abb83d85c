import { expect, it } from "vitest";
import { dedupeText } from "./idempotency.ts";

it("the order of keys does not make another job", () => {
  expect(dedupeText("a.b", '{"x":1,"y":[{"p":1,"q":2}]}')).toBe(
    dedupeText("a.b", '{"y":[{"q":2,"p":1}],"x":1}'),
  );
  expect(dedupeText("a.b", '{"y":2,"x":1}')).toBe('a.b\n{"x":1,"y":2}');
});

it("another type or another payload makes another job", () => {
  const text = dedupeText("a", "[1,2]");
  expect(dedupeText("b", "[1,2]")).not.toBe(text);
  expect(dedupeText("a", "[2,1]")).not.toBe(text);
  expect(dedupeText("a", '["1",2]')).not.toBe(text);
});
