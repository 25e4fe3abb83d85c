/** All questions, by store, in the order in which they are asked, with what is asked of Holdfast. */
import type { StoreName } from "../contenders/index.ts";
import type { Scenario } from "../scenario.ts";
import { MONGODB_SCENARIOS } from "./mongodb.ts";
import { POSTGRES_SCENARIOS } from "./postgres.ts";
import { REDIS_SCENARIOS } from "./redis.ts";
import { SQLITE_SCENARIOS } from "./sqlite.ts";

const SCENARIOS: Readonly<Record<StoreName, readonly Scenario[]>> = {
  sqlite: SQLITE_SCENARIOS,
  postgres: POSTGRES_SCENARIOS,
  redis: REDIS_SCENARIOS,
  mongodb: MONGODB_SCENARIOS,
};

export function scenariosOf(store: StoreName): readonly Scenario[] {
  return SCENARIOS[store];
}

export function scenarioNamed(store: StoreName, name: string): Scenario {
  const found = scenariosOf(store).find((scenario) => scenario.name === name);
  if (!found) throw new Error(`there is no scenario "${name}" on ${store}`);
  return found;
}
