/** `holdfast sim` as a person has it, beside a program whose worker runs the records. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { join } from "node:path";
import { Pacing } from "@holdfast/pacing";
import { Holdfast } from "holdfast";
import { sqliteStore } from "holdfast/sqlite";
import { Terminal } from "../cli/terminal.ts";

const HOUR_MS = 3_600_000;
const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

describe("holdfast sim", () => {
  let terminal: Terminal;
  let hf: Holdfast;
  let pacing: Pacing;
  beforeAll(async () => {
    terminal = await Terminal.open();
    const file = join(terminal.folder, "holdfast.db");
    hf = new Holdfast({ store: sqliteStore({ file, synchronous: "normal" }), logger }) as Holdfast;
    pacing = new Pacing(hf, { create: quiet, act: quiet, outbound: false, watchMs: 200 });
    await pacing.work();
  });
  afterAll(async () => {
    await hf?.close();
    await terminal?.close();
  });
  const sim = (...argv: string[]) => terminal.run(["sim", ...argv]);

  it("shows planned against actual, counters and segments of a simulation that has run", async () => {
    const start = new Date(Date.now() - 4 * HOUR_MS);
    const scenario = { budgets: { note: 5 } };
    await pacing.create({ id: "past", records: 60, start, durationMs: 3 * HOUR_MS, scenario });
    expect((await sim("start", "past")).code).toBe(0);
    const status = async () => (await pacing.get("past"))?.status;
    await expect.poll(status, { timeout: 20_000 }).toBe("completed");
    const { out } = await sim("show", "past");
    expect(out).toContain("records   60 of 60");
    expect(out).toContain("segments  3 of 3");
    expect(out).toMatch(/^records_created +60$/m);
    expect(out).toContain("budget of notes: 0 of 5");
    const [, planned = ""] = /^planned {3}(.*)$/m.exec(out) ?? [];
    const [, actual = ""] = /^actual {4}(.*)$/m.exec(out) ?? [];
    // A bar for each segment; all that was planned is there.
    expect(planned).toMatch(/^[▁-█]{3}$/);
    expect(actual).toBe(planned);
    expect((await sim("segments", "past")).out.match(/ (\d+) +\1 +complete/g)).toHaveLength(3);
    expect((await sim("list")).out).toMatch(/past +completed/);
  });

  it("plans, starts, pauses, resumes and aborts, and says what cannot be", async () => {
    const begun = await sim(
      "start",
      "demo",
      "--records",
      "1000",
      "--hours",
      "24",
      "--shape",
      "bell",
    );
    expect(begun, begun.err).toMatchObject({ code: 0 });
    expect((await sim("pause", "demo", "--reason", "month end")).out).toContain("paused");
    expect((await pacing.get("demo"))?.status).toBe("paused");
    expect((await sim("resume", "demo")).out).toContain("running");
    expect((await sim("abort", "demo", "--reason", "enough")).out).toContain("aborted");
    const audits = JSON.stringify((await hf.ledger({ kind: "audit" })).entries);
    for (const reason of ["month end", "enough"]) expect(audits).toContain(reason);
    const again = await sim("resume", "demo");
    expect(again.code).toBeGreaterThan(0);
    expect(again.err).toContain("aborted");
    expect((await sim("show", "nobody")).code).toBe(3);
    expect((await sim("start", "more", "--records", "many")).code).toBe(2);
  });
});
