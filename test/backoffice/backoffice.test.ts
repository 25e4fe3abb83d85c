/** The back office over real HTTP: on SQLite daily, on the other stores in the full tier. */
import { describe, it } from "vitest";
import { onlyInFull, TIER } from "../runner/tier.ts";
import "./callers.ts";
import "./crm-settings.ts";
import "./resilience.ts";
import type { Env } from "./office.ts";
import { OTHERS } from "./stores.ts";
import { systemOne } from "./system-1.ts";
import { systemTwo } from "./system-2.ts";
import { systemThree } from "./system-3.ts";
import { systemFour } from "./system-4.ts";
import { systemFive } from "./system-5.ts";

/** Each gets its own back office. */
const SYSTEMS: Readonly<Record<string, (env: () => Promise<Env>) => void>> = {
  "system 1": systemOne,
  "system 2": systemTwo,
  "system 3": systemThree,
  "system 4": systemFour,
  "system 5": systemFive,
};

for (const [system, tests] of Object.entries(SYSTEMS)) {
  describe(`${system} on SQLite`, () => tests(async () => ({})));
  for (const [name, env] of Object.entries(OTHERS)) {
    if (TIER === "full") describe(`${system} on ${name}`, () => tests(env));
    else it(`${system} on ${name}`, (test) => onlyInFull(test));
  }
}
