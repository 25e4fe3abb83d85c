import { describe, expect, it } from "vitest";
import { Contact } from "./contact.ts";

function answeredAt(contact: Contact, ...times: number[]): void {
  for (const now of times) contact.answered(contact.asked(now), now);
}

describe("Contact", () => {
  it("grows while the store answers", () => {
    const contact = new Contact({ longestGapMs: () => 5 });
    expect(contact.lengthMs(0)).toBe(0);
    answeredAt(contact, 10, 13, 16);
    expect(contact.lengthMs(18)).toBe(8);
  });

  it("starts again after a failed call", () => {
    const contact = new Contact({ longestGapMs: () => 5 });
    answeredAt(contact, 10);
    contact.broken(contact.asked(10));
    expect(contact.lengthMs(11)).toBe(0);
    answeredAt(contact, 12);
    expect(contact.lengthMs(14)).toBe(2);
  });

  it("is lost by a process that was frozen itself", () => {
    const contact = new Contact({ longestGapMs: () => 5 });
    answeredAt(contact, 10);
    expect(contact.lengthMs(100)).toBe(0);
    answeredAt(contact, 101);
    expect(contact.lengthMs(102)).toBe(1);
  });

  it("is lost while one call hangs, though others are answered", () => {
    const contact = new Contact({ longestGapMs: () => 5 });
    answeredAt(contact, 10);
    const hanging = contact.asked(11);
    answeredAt(contact, 14, 16);
    expect(contact.lengthMs(16)).toBe(6);
    answeredAt(contact, 18);
    expect(contact.lengthMs(18)).toBe(0);
    contact.answered(hanging, 19);
    expect(contact.lengthMs(20)).toBe(1);
  });
});
