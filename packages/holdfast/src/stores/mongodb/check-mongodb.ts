/** What an operator should know of a MongoDB server. Looks and changes nothing. */
import { checkOptions } from "../../core/option-checks.ts";
import { schemaFinding, schemaState } from "../../core/store-check.ts";
import type { Finding, StoreCheck } from "../../core/store-check.ts";
import type { DbLike } from "./driver-like.ts";
import { connect, databaseOf, factsOf } from "./open-database.ts";
import { INDEXES, SCHEMA, type StoreDocument } from "./schema.ts";

export interface MongodbCheckOptions {
  readonly url: string;
  /** Default `holdfast_`. */
  readonly prefix?: string | undefined;
}

export async function checkMongodb(options: MongodbCheckOptions): Promise<StoreCheck> {
  checkOptions("checkMongodb", options, ["url", "prefix"]);
  const { url, prefix = "holdfast_" } = options;
  const client = await connect(url);
  try {
    const db = databaseOf(client, url);
    const { version, isReplicaSet, nodes } = await factsOf(db);
    const head = await firstOf(db, { find: `${prefix}head`, filter: { _id: "store" }, limit: 1 });
    const stored = head[0] as unknown as StoreDocument | undefined;
    const schema = schemaState(stored === undefined ? 0 : (stored.version ?? 1), SCHEMA.version);
    const findings = [
      schemaFinding(schema),
      ...(schema.state === "current" ? await indexFindings(db, prefix) : []),
      replicaFinding(isReplicaSet, nodes),
      ...concernFindings(url),
    ];
    return { store: "mongodb", version: `MongoDB ${version}`, schema, findings };
  } finally {
    await client.close();
  }
}

async function firstOf(
  db: DbLike,
  command: Readonly<Record<string, unknown>>,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { cursor } = await db.command({ ...command });
  const { firstBatch = [] } = Object(cursor) as {
    readonly firstBatch?: readonly Readonly<Record<string, unknown>>[];
  };
  return firstBatch;
}

async function indexFindings(db: DbLike, prefix: string): Promise<Finding[]> {
  const missing: string[] = [];
  for (const [name, indexes] of Object.entries(INDEXES)) {
    const found = await firstOf(db, { listIndexes: prefix + name, cursor: { batchSize: 100 } });
    const names = new Set(found.map((index) => index["name"]));
    for (const index of indexes ?? []) {
      if (!names.has(index["name"])) missing.push(`${prefix}${name}.${String(index["name"])}`);
    }
  }
  if (missing.length === 0)
    return [{ check: "indexes", level: "ok", message: "every index is there" }];
  return [
    {
      ...{ check: "indexes", level: "trouble" },
      message: `the index ${missing.join(", ")} is missing, and what needs it reads whole collections: holdfast migrate up makes it again`,
    },
  ];
}

function replicaFinding(isReplicaSet: boolean, nodes: number): Finding {
  const check = "replica set";
  if (!isReplicaSet) {
    return {
      ...{ check, level: "warning" },
      message:
        "this server stands alone: no transactions of yours, and no failover. Start it with --replSet, also as the only node",
    };
  }
  if (nodes < 3) {
    return {
      ...{ check, level: "note" },
      message: `the replica set has ${nodes} ${nodes === 1 ? "node" : "nodes"}: it takes three to survive the loss of one`,
    };
  }
  return { check, level: "ok", message: `the replica set has ${nodes} nodes` };
}

function concernFindings(url: string): Finding[] {
  const [, concern] = /[?&]w=([^&]+)/.exec(url) ?? [];
  if (concern === undefined || concern === "majority") return [];
  return [
    {
      ...{ check: "write concern", level: "trouble" },
      message: `the URL says w=${concern}: a failover may lose acknowledged jobs. Take it out, or say w=majority`,
    },
  ];
}
