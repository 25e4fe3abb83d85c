import { describe, expect, it } from "vitest";
import { MOST_SERIES, Tally } from "./tally.ts";

function succeeded(tally: Tally): number {
  return tally.rows().reduce((sum, row) => sum + row[2], 0);
}

describe("a tally", () => {
  it("tells 200 series apart, and keeps what the others counted as one", () => {
    const tally = new Tally(MOST_SERIES);
    for (let type = 0; type < 1_000; type += 1) tally.series("mail", `type-${type}`).succeeded += 1;
    expect(tally.rows()).toHaveLength(MOST_SERIES);
    expect(succeeded(tally)).toBe(1_000);
  });

  it("keeps the largest series when several tallies become one", () => {
    const merged = new Tally();
    for (let process = 0; process < 5; process += 1) {
      const own = new Tally(MOST_SERIES);
      for (let type = 0; type < 100; type += 1) own.series(`queue-${process}`, `${type}`).dead += 1;
      own.series(`queue-${process}`, "busy").succeeded += 500;
      merged.addRows(own.rows());
    }
    const rows = merged.rows();
    expect(rows).toHaveLength(MOST_SERIES);
    expect(rows.slice(0, 5).map(([, type]) => type)).toEqual(Array(5).fill("busy"));
    expect(rows.reduce((sum, row) => sum + row[4], 0)).toBe(500);
    expect(rows.at(-1)?.slice(0, 2)).toEqual(["", ""]);
  });

  it("comes back from its rows as it was, the unnamed rest included", () => {
    const tally = new Tally(2);
    for (const type of ["one", "two", "three"]) {
      const series = tally.series("mail", type);
      series.retried += 2;
      series.wait.add(12);
      series.run.add(3.5);
    }
    const again = new Tally();
    again.addRows(JSON.parse(JSON.stringify(tally.rows())) as ReturnType<Tally["rows"]>);
    expect(again.rows()).toEqual(tally.rows());
  });
});
