import { describe, expect, it } from "vitest";
import { parseOptions } from "./chaos-options.ts";
import { CHAOS_STORES } from "./chaos-store.ts";

const SEED = 7;

describe("the command line of the chaos", () => {
  it("runs SQLite unless told otherwise", () => {
    expect(parseOptions([], SEED)).toMatchObject([{ store: "sqlite", seed: SEED, outages: 0 }]);
  });

  it("runs every store, each with its own strikes and one seed, with --all", () => {
    const runs = parseOptions(["--all", "--kills", "2"], SEED);
    expect(runs.map(({ store }) => store)).toEqual(CHAOS_STORES);
    expect(runs.every(({ kills, seed }) => kills === 2 && seed === SEED)).toBe(true);
    const postgres = runs.find(({ store }) => store === "postgres");
    expect(postgres).toMatchObject({ faults: 10, restarts: 3, serverKills: 1, healMs: 5_000 });
  });

  it("refuses a store that it does not know, and names those that it knows", () => {
    expect(() => parseOptions(["--store", "paper"], SEED)).toThrow(CHAOS_STORES.join(" or "));
    expect(() => parseOptions(["--store", "sqlite", "--cluster"], SEED)).toThrow("--store takes");
  });

  it("refuses what is no number", () => {
    expect(() => parseOptions(["--outages", "many"], SEED)).toThrow(
      "--outages takes a whole number",
    );
    expect(() => parseOptions(["--workers", "1"], SEED)).toThrow("from 2 on");
  });
});
