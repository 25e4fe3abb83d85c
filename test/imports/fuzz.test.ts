/** Bytes changed at random: each file ends in rows or in a refusal, never otherwise, and never not at all. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SheetFault } from "../../packages/imports/src/read/sheet-fault.ts";
import { inTier } from "../runner/tier.ts";
import { CORPUS } from "./make-corpus.ts";
import { readContent } from "./read-all.ts";
import { SHAPES } from "./shapes/all-shapes.ts";
import { partsOf, textCells, workbookOf } from "./workbook-writer.ts";

/** Small and good enough: the same numbers for the same seed, so that a failure can be had again. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

async function endsWell(content: Buffer, what: string): Promise<void> {
  try {
    await readContent(content);
  } catch (error) {
    if (error instanceof SheetFault) return;
    throw new Error(`${what} ended otherwise`, { cause: error });
  }
}

const FLIPS = inTier({ daily: 4, full: 60 });

it("a workbook with changed bytes", { timeout: 300_000 }, async () => {
  for (const [at, { name, make }] of SHAPES.entries()) {
    const whole = await make();
    for (let turn = 0; turn < FLIPS; turn += 1) {
      const random = randomFrom(at * 1_000 + turn);
      const content = Buffer.from(whole);
      for (let flips = 1 + random(4); flips > 0; flips -= 1)
        content[random(content.length)] = random(256);
      await endsWell(content, `${name}, turn ${turn}`);
    }
  }
});

it(
  "a workbook whose parts have changed bytes under right checksums",
  { timeout: 300_000 },
  async () => {
    const parts = partsOf({
      strings: "<si><t>a</t></si><si><r><t>b&amp;</t></r><rPh><t>c</t></rPh></si>",
      rows:
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2" hidden="1"><c r="A2" s="5"><v>46044.5</v></c><c r="B2" t="b"><v>1</v></c></row>' +
        textCells(3, ["x & y", "<z>"]),
      after: '<mergeCells><mergeCell ref="A2:B2"/></mergeCells>',
    });
    const names = Object.keys(parts);
    for (let turn = 0; turn < FLIPS * 100; turn += 1) {
      const random = randomFrom(turn);
      const name = names[random(names.length)]!;
      const data = Buffer.from(parts[name]!);
      for (let flips = 1 + random(3); flips > 0; flips -= 1) {
        const markup = "<>/=\"&;'![]-? 0aA\u0000";
        data[random(data.length)] =
          random(2) === 0 ? random(256) : markup.charCodeAt(random(markup.length));
      }
      await endsWell(workbookOf({ parts: { ...parts, [name]: data } }), `${name}, turn ${turn}`);
    }
  },
);

it("a CSV with changed bytes", async () => {
  const whole = readFileSync(join(CORPUS, "unicode.csv"));
  for (let turn = 0; turn < FLIPS * 20; turn += 1) {
    const random = randomFrom(turn);
    const content = Buffer.from(whole);
    for (let flips = 1 + random(4); flips > 0; flips -= 1)
      content[random(content.length)] = random(256);
    await endsWell(content, `turn ${turn}`);
  }
  expect(whole.length).toBeGreaterThan(0);
});
