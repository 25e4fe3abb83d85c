import { describe, expect, it } from "vitest";
import { heardBy, messageOf } from "./wakeup-message.ts";

describe("a wakeup as text", () => {
  const wakeup = { queues: ["a"], finished: ["1"] };

  it("is heard by others and not by who sent it", () => {
    expect(heardBy("you", messageOf("me", wakeup))).toMatchObject(wakeup);
    expect(heardBy("me", messageOf("me", wakeup))).toBeNull();
  });

  it("is nothing if it is nonsense", () => {
    const nonsense = ["", "null", "7", "{}", '{"from":"x","queues":[1],"finished":[]}', "{"];
    for (const text of nonsense) expect(heardBy("me", text)).toBeNull();
  });
});
