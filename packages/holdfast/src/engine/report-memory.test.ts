import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { memoryStore } from "../stores/memory/index.ts";
import type { Logger } from "./logger.ts";
import { reportMemory } from "./report-memory.ts";

const MB = 1_048_576;

function lines(memory: { usedMemoryBytes?: number | null; maxMemoryBytes?: number | null }) {
  const said: string[] = [];
  const logger: Logger = {
    debug: (message) => void said.push(`debug ${message}`),
    info: (message) => void said.push(`info ${message}`),
    warn: (message) => void said.push(`warn ${message}`),
    error: (message) => void said.push(`error ${message}`),
  };
  reportMemory({ ...memoryStore().info(), name: "redis", ...memory }, logger);
  return said;
}

describe("the memory of a store that keeps jobs there", () => {
  it("is told with its bound", () => {
    assert.deepEqual(lines({ usedMemoryBytes: 30 * MB, maxMemoryBytes: 100 * MB }), [
      "info redis uses 30 MB of 100 MB of memory",
    ]);
  });

  it("is told without one", () => {
    const unbounded = ["info redis uses 30 MB of memory, without a bound"];
    assert.deepEqual(lines({ usedMemoryBytes: 30 * MB, maxMemoryBytes: null }), unbounded);
    assert.deepEqual(lines({ usedMemoryBytes: 30 * MB, maxMemoryBytes: 0 }), unbounded);
  });

  it("is warned about when it is nearly full, with what helps", () => {
    const [warning, ...rest] = lines({ usedMemoryBytes: 80 * MB, maxMemoryBytes: 100 * MB });
    assert.deepEqual(rest, []);
    assert.match(warning ?? "", /^warn redis uses 80 MB of 100 MB of memory: raise maxmemory/);
  });

  it("is not mentioned where there is none, or nobody knows it", () => {
    assert.deepEqual(lines({}), []);
    assert.deepEqual(lines({ usedMemoryBytes: null }), []);
  });
});
