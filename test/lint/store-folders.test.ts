/** Store folders rhyme: who knows one finds a behaviour in any other by the name of its file. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const stores = fileURLToPath(new URL("../../packages/holdfast/src/stores", import.meta.url));
/** What several stores share; no stores themselves. */
const SHARED = ["shared"];

const VERBS = ["insert", "adopt", "lease", "renew", "settle", "reap", "prune", "operate", "find"];
const ROOMS = ["lines", "ledger", "outbox", "records", "keys"];
/** Of those that have a database under them. */
const DATABASE_ROOMS = ["count", "lines-page", "job-view", "queue-book", "store-info"];
/** One script a verb; the operator's verbs and the views have one each too. */
const SCRIPTS = ["insert", "adopt", "lease", "renew", "settle", "reap", "prune", "find", "count"];

const names = readdirSync(stores).filter((name) => !SHARED.includes(name));

describe("store folders rhyme", () => {
  it.each(names)("%s has a file for each verb and each room, under the common name", (name) => {
    const rooms = name === "memory" ? ROOMS : [...ROOMS, ...DATABASE_ROOMS, `${name}-error`];
    const wanted = [...VERBS, ...rooms, `${name}-store`, "index"];
    const missing = wanted.filter((file) => !existsSync(join(stores, name, `${file}.ts`)));
    expect(missing).toEqual([]);
  });

  it("Redis has a script of the verb's name for each verb", () => {
    const missing = SCRIPTS.filter((verb) => !existsSync(join(stores, "redis/lua", `${verb}.lua`)));
    expect(missing).toEqual([]);
  });
});
