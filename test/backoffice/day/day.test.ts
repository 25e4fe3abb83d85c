/** A day in the life of the back office, with real processes: on SQLite daily, on the other stores in the full tier. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, it } from "vitest";
import { inTier, onlyInFull, TIER } from "../../runner/tier.ts";
import type { Env } from "../office.ts";
import { OTHERS } from "../stores.ts";
import { afternoonDeploy } from "./afternoon-deploy.ts";
import { crmOutage } from "./crm-outage.ts";
import { crmReplay } from "./crm-replay.ts";
import { crmSimulation } from "./crm-simulation.ts";
import { Day, type Chapter } from "./day.ts";
import { eveningBooks } from "./evening-books.ts";
import { morningImports } from "./morning-imports.ts";
import { noonRecalculation } from "./noon-recalculation.ts";

const ROWS = inTier({ daily: 600, full: 6_000 });
/** On a machine that is busy with other things, too. */
const CHAPTER_MS = 300_000;
const BUILD = fileURLToPath(new URL("../../../scripts/build-apps.mjs", import.meta.url));

/** In their order. */
const CHAPTERS: readonly Chapter[] = [
  morningImports,
  noonRecalculation,
  afternoonDeploy,
  crmOutage,
  crmReplay,
  crmSimulation,
  eveningBooks,
];

function wholeDay(env: () => Promise<Env>): void {
  let day: Day;
  let isOver = false;
  beforeAll(async () => {
    // Processes run what is built, as in production.
    await promisify(execFile)(process.execPath, [BUILD, "--if-newer"]);
    day = await Day.begin({ env: await env(), rows: ROWS });
  }, CHAPTER_MS);
  afterAll(() => day?.end());
  for (const { claim, tell } of CHAPTERS) {
    it(
      claim,
      async (test) => {
        test.skip(isOver, "a chapter before failed");
        isOver = true;
        await tell(day);
        isOver = false;
      },
      CHAPTER_MS,
    );
  }
}

describe("a day in the life, on SQLite", () => wholeDay(async () => ({})));
for (const [name, env] of Object.entries(OTHERS)) {
  if (TIER === "full") describe(`a day in the life, on ${name}`, () => wholeDay(env));
  else it(`a day in the life, on ${name}`, (test) => onlyInFull(test));
}
