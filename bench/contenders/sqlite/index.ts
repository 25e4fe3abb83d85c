import type * as sqliteDoor from "../../../packages/holdfast/src/stores/sqlite/index.ts";
import type { Contender } from "../../contender.ts";
import { holdfastOn } from "../holdfast.ts";
import { plainjob } from "./plainjob.ts";
import { rawSqlite } from "./raw.ts";

const holdfastSqlite = holdfastOn<typeof sqliteDoor>("sqlite", ({ sqliteStore }, place) =>
  sqliteStore({ file: place }),
);

export const CONTENDERS: readonly Contender[] = [rawSqlite, plainjob, holdfastSqlite];
