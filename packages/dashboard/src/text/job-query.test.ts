import { describe, expect, it } from "vitest";
import {
  completionsOf,
  parseJobQuery,
  qualifierText,
  withQualifier,
  wordsOf,
} from "./job-query.ts";

const NOW = Date.parse("2026-11-18T12:00:00Z");
const parse = (text: string) => parseJobQuery(text, NOW);

describe("what people type to find jobs", () => {
  it("says where to look by words with a colon, and looks in messages for the rest", () => {
    expect(
      parse('type:email.* status:dead tag:beta group:tenant-7 error:"ECONN refused" x'),
    ).toEqual({
      query: {
        ...{ type: "email.*", status: "dead", tag: "beta", group: "tenant-7" },
        text: "ECONN refused x",
      },
      problems: [],
    });
  });

  it("takes a bare beginning of an id for one", () => {
    expect(parse("019A9D2E-77c1").query).toEqual({ id: "019a9d2e-77c1" });
    expect(parse("id:019a").problems).toHaveLength(1);
  });

  it("takes several statuses, but those that say when a job is due stand alone", () => {
    expect(parse("status:dead status:cancelled").query).toEqual({ status: "dead,cancelled" });
    expect(parse("status:waiting status:dead").problems).toHaveLength(1);
  });

  it("reads times as they are, and as how long ago", () => {
    expect(parse("from:2h to:2026-11-18T11:30:00Z").query).toEqual({
      ...{ from: "2026-11-18T10:00:00.000Z", to: "2026-11-18T11:30:00.000Z" },
    });
    expect(parse("from:tomorrow").problems).toHaveLength(1);
  });

  it("leaves nothing out silently", () => {
    expect(parse("stat:dead").problems[0]).toContain('did you mean "status:"');
    expect(parse("status:gone").problems[0]).toContain("dead");
    expect(parse("queue:a queue:b").problems).toEqual(["queue: can be said once."]);
    expect(parse('status: "half').query).toEqual({ text: "half" });
    expect(parse("status:dead queue:").problems).toEqual(["queue: says nothing yet."]);
    expect(parse("from:2h from:1d").problems).toEqual(["from: can be said once."]);
    expect(parse("019a9d2e 019a9d2f").problems).toEqual(["id: can be said once."]);
  });

  it("asks for jobs without a group by an empty one", () => {
    expect(parse('group:""').query).toEqual({ group: "" });
  });

  it("changes one word and leaves the others as they were typed", () => {
    expect(withQualifier('status:dead  error:"a b"', "status", "queued")).toBe(
      'error:"a b" status:queued',
    );
    expect(withQualifier("status:dead x", "status", null)).toBe("x");
  });

  it("writes a value so that it is read as the same", () => {
    for (const value of ["plain", "two words", 'a "quote"', "back\\slash", "a:b", "ünï"]) {
      expect(wordsOf(qualifierText("tag", value))).toMatchObject([{ name: "tag", value }]);
    }
  });
});

describe("completion", () => {
  const known = { type: ["email.send", "email.*", "crm.sync"], queue: ["mail"] };

  it("offers names first, then what is known under a name", () => {
    expect(completionsOf("sta", 3, known).map(({ text }) => text)).toEqual(["status:"]);
    expect(completionsOf("status:de", 9, known).map(({ taken }) => taken)).toEqual([
      ...["status:dead", "status:delayed", "status:succeeded"],
    ]);
    expect(completionsOf("x type:sync", 11, known).map(({ taken }) => taken)).toEqual([
      "x type:crm.sync",
    ]);
  });

  it("completes the word at the cursor, and keeps what stands behind it", () => {
    const [first] = completionsOf("queue:m status:dead", 7, known);
    expect(first?.taken).toBe("queue:mail  status:dead");
  });
});
