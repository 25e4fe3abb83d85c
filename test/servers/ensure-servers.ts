/**
 * Before the whole suite: every program that its servers need is brought here, one after the other, so
 * that no test waits for a download. A test that needs one which cannot be had fails by itself.
 */
import { chromiumBinary } from "./chromium.ts";
import { mongodBinary } from "./mongod-binary.ts";
import { pgbouncerBinary } from "./pgbouncer.ts";
import { postgresBinaries } from "./postgres.ts";
import { redisBinary } from "./redis.ts";

const PROGRAMS: Readonly<Record<string, () => Promise<string>>> = {
  PostgreSQL: async () => (await postgresBinaries()).from,
  pgbouncer: pgbouncerBinary,
  Redis: async () => (await redisBinary()).from,
  Chromium: async () => (await chromiumBinary()) ?? "not here",
  MongoDB: async () => (await mongodBinary()).from,
};

for (const [name, find] of Object.entries(PROGRAMS)) {
  const from = await find().catch((error: unknown) => `not here: ${String(error)}`);
  console.log(`${name}: ${from}`);
}
