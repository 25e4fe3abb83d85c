/** Measured on a corpus: faults as they come in, each several times with other details. */
import { describe, expect, it } from "vitest";
import { fingerprintOf, type FailureWords } from "./fingerprint.ts";

const send = "    at send (/app/src/mail.ts:7:3)\n    at async run (/app/src/jobs.ts:40:5)";

function failure(overrides: Partial<FailureWords>): FailureWords {
  const words = { type: "email.send", category: "unknown", name: "Error", message: "boom" };
  return { ...words, stack: send, ...overrides };
}

const ofMessage = (message: string) => fingerprintOf(failure({ message }));

/** Each line is one fault, met several times. */
const SAME: readonly (readonly string[])[] = [
  ["order 17 not found", "order 4711 not found"],
  [
    ...["connect ECONNREFUSED 10.0.0.1:5432", "connect ECONNREFUSED 192.168.17.4:5433"],
    ...["connect ECONNREFUSED ::1:6379", "connect ECONNREFUSED fe80::12ab:6379"],
  ],
  ["getaddrinfo ENOTFOUND db-1.eu.internal", "getaddrinfo ENOTFOUND db-22.us.internal"],
  ["timeout after 3000 ms", "timeout after 5,250.5 ms"],
  ['no user "ann"', 'no user "bob the builder"'],
  ["user ann@example.com bounced", "user bob.b+tag@mail.example.org bounced"],
  [
    "job 01a1ebb7-a33f-76e4-ad10-215b016c8d64 is gone",
    "job 01a1ebb9-0000-7000-8000-215b016c8d65 is gone",
  ],
  ["no document 507f1f77bcf86cd799439011", "no document 65a1f0aa12bcf86cd7994abc"],
  ["charge ch_3MmlLrLkdIwHu7ix0snN0B15 failed", "charge ch_1AbcDeFgHiJkLmNoPqRsTu99 failed"],
  ["ENOENT: no such file, open /var/data/a.csv", "ENOENT: no such file, open /srv/x/b-2.csv"],
  ["GET https://api.example.com/v1/a?x=1 gave 503", "GET https://api.example.com/v1/b gave 503"],
  ["row 3, 4, 5 are bad", "row 9 are bad"],
];

/** Different faults, some with similar words. */
const DIFFERENT: readonly string[] = [
  "order not found",
  "order refused",
  "user not found",
  "connect ECONNREFUSED 10.0.0.1:5432",
  "connect ETIMEDOUT 10.0.0.1:5432",
  "read ECONNRESET",
  "Request failed with status code invalid",
  "token expired",
  "token revoked",
  "duplicate key value violates unique constraint",
  "deadlock detected",
  "heap out of memory",
];

describe("a fingerprint", () => {
  it("is the same for one fault with other ids, hosts and numbers", () => {
    for (const [first, ...others] of SAME) {
      for (const other of others) expect(ofMessage(other), other).toBe(ofMessage(first ?? ""));
    }
  });

  it("differs for every two faults that a person would tell apart", () => {
    const prints = [...DIFFERENT, ...SAME.map(([first]) => first ?? "")].map(ofMessage);
    // The refused connection is in both lists.
    expect(new Set(prints).size).toBe(prints.length - 1);
  });

  it("is the same in another folder, after other lines were moved, and built to JavaScript", () => {
    const moved = failure({
      stack:
        "Error: boom\n    at send (file:///srv/release-9/dist/mail.js:90:11)\n" +
        "    at async run (file:///srv/release-9/dist/jobs.js:2:1)",
    });
    expect(fingerprintOf(moved)).toBe(fingerprintOf(failure({})));
  });

  it("does not depend on frames of node and of packages", () => {
    const between =
      "    at send (/app/src/mail.ts:7:3)\n" +
      "    at Socket.emit (node:events:519:28)\n" +
      "    at call (/app/node_modules/pg/lib/client.js:1:1)\n" +
      "    at async run (/app/src/jobs.ts:40:5)";
    expect(fingerprintOf(failure({ stack: between }))).toBe(fingerprintOf(failure({})));
  });

  it("tells apart where it was thrown, by whom, in which type and category", () => {
    const prints = [
      failure({}),
      failure({ stack: send.replace("send", "render") }),
      failure({ type: "sms.send" }),
      failure({ category: "network" }),
      failure({ name: "TypeError" }),
    ].map(fingerprintOf);
    expect(new Set(prints).size).toBe(prints.length);
  });

  it("is 16 hex digits and stays what it is from release to release", () => {
    expect(fingerprintOf(failure({ message: "order 17 not found" }))).toBe("91d402f91c94c37d");
  });

  it("is quick for hostile text", () => {
    for (const sign of ["a", "/a", "1", "a.", "'", "a@", ":", "0:", "a-"]) {
      expect(ofMessage(sign.repeat(2_000 / sign.length))).toHaveLength(16);
    }
  });
});
