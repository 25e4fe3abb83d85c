/** The target of a test, by a file or a URL; apart from its place, so that a child process loads no driver it does not need. */
import { mongodbTarget } from "../../packages/imports/src/targets/mongodb-target.ts";
import { postgresTarget } from "../../packages/imports/src/targets/postgres-target.ts";
import { sqliteTarget } from "../../packages/imports/src/targets/sqlite-target.ts";
import type { ImportTarget } from "../../packages/imports/src/targets/target.ts";

export const TARGET_NAMES = ["sqlite", "postgres", "mongodb", "mongodb-standalone"] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

export function targetOf(name: TargetName, url: string): ImportTarget {
  if (name === "sqlite") return sqliteTarget({ file: url, table: "people" });
  if (name === "postgres") return postgresTarget({ url, table: "people" });
  return mongodbTarget({ url, collection: "people" });
}
