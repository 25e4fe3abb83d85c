import { describe, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { storeConformance } from "./index.ts";

describe("the memory store", () => {
  storeConformance({
    describe,
    it,
    rewinds: true,
    async place() {
      // Far from the host's own clock, so that whoever looks at that one is found out.
      let now = Date.UTC(2031, 0, 1);
      const store = memoryStore({ now: () => now });
      return {
        open: async () => store,
        advance: async (ms) => void (now += ms),
        rewind: async (ms) => void (now -= ms),
        dispose: async () => {},
      };
    },
  });
});
