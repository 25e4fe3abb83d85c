/**
 * `npm run systems`: is every id of the five systems in `docs/systems.md`, and did each test that it names run and
 * pass? What ran is what the last runs of tests wrote down, so run `npm test` first. With `--texts <folder>` the ids
 * themselves are compared with the systems' own texts, for those who have them.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { outlineIds, outlineOf, OUTLINES } from "../test/docs/systems/outline.ts";
import { readRan } from "../test/docs/systems/ran-tests.ts";
import { idFaults, readSystems, testFaults } from "../test/docs/systems/systems-page.ts";

const root = join(import.meta.dirname, "..");
const { values } = parseArgs({
  options: {
    page: { type: "string", default: join(root, "docs/systems.md") },
    texts: { type: "string" },
    full: { type: "boolean", default: false },
  },
});

const lines = readSystems(await readFile(values.page, "utf8"));
const ran = await readRan(root);
const verdict = testFaults(lines, ran, { isWhole: true, isFull: values.full });
const faults = [...idFaults(lines, outlineIds()), ...verdict.faults];

if (values.texts !== undefined) {
  for (const name of (await readdir(values.texts)).filter((one) => /^\d.*\.md$/.test(one))) {
    const system = name.slice(0, 1);
    const outline = outlineOf(system, await readFile(join(values.texts, name), "utf8"));
    if (isDeepStrictEqual(outline, OUTLINES[system])) continue;
    faults.push(`${name} has another outline: ${JSON.stringify(outline)}`);
  }
}

const open = lines.filter(({ isShown }) => !isShown);
const tests = new Set(lines.flatMap((line) => line.tests.map(({ file, name }) => file + name)));
for (const { id } of open) console.log(`not shown yet: ${id}`);
for (const one of verdict.waiting) console.log(`waits for the full tier: ${one}`);
for (const fault of faults) console.error(`wrong: ${fault}`);
console.log(
  `${lines.length} lines, ${tests.size} tests, ${open.length} not shown yet, ` +
    `${verdict.waiting.length} wait for the full tier, ${faults.length} wrong`,
);
if (faults.length > 0) process.exitCode = 1;
