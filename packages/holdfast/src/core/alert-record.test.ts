import { describe, expect, it } from "vitest";
import { gathered, NOTHING_TOLD, uncounted, type AlertRecord, type Death } from "./alert-record.ts";

const body = { category: "unknown", reason: "failed", message: "no" } as Death["body"];
const death = (entry: string): Death => ({
  ...{ entry, jobId: `job ${entry}`, at: 1, type: "mail", queue: "mail", fingerprint: "f", body },
});

describe("deaths that several processes gather at once", () => {
  it("are counted once each, though none of them is marked yet", () => {
    const [one, two, three] = ["1", "2", "3"].map(death) as [Death, Death, Death];
    let record: AlertRecord | null = null;
    // Each process finds those before it still new in the ledger.
    for (const found of [[one], [one, two], [one, two, three], [one, two, three]]) {
      const wanted = uncounted(record, found);
      if (wanted.length === 0) continue;
      const unmarked = found.map(({ entry }) => entry);
      record = gathered(record ?? NOTHING_TOLD, wanted, { mark: "", unmarked });
    }
    expect(record?.deaths?.count).toBe(3);
  });
});
