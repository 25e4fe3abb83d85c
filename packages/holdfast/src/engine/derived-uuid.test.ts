import { expect, test } from "vitest";
import { derivedUuid } from "./derived-uuid.ts";
import { isUuid } from "../core/uuid.ts";

test("the same words give the same id, others another", () => {
  const id = derivedUuid("failure", "job-1", 17);
  expect(isUuid(id)).toBe(true);
  expect(id[14]).toBe("8");
  expect(derivedUuid("failure", "job-1", 17)).toBe(id);
  expect(derivedUuid("failure", "job-1", 18)).not.toBe(id);
});
