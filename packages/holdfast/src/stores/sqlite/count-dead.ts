/**
 * Dead jobs that are alike. How many there are of each kind stands in `holdfast_dead_count`, so fifty thousand
 * of them are counted as fast as fifty. Triggers keep the numbers, not the verbs: a build that knows nothing of
 * the table keeps them too, while it runs beside this one. When the first and the last died is asked of an index.
 */
import { COUNTED_TO } from "../../core/line.ts";
import type { DeadCount, DeadCountRequest, DeadKey } from "../../core/store.ts";
import { DEAD_COLUMNS, DEAD_WORDS, deadKey, type DeadWord } from "../shared/dead-words.ts";
import type { Connection } from "./connection.ts";
import { STATUS_CODES } from "./status-codes.ts";

const IS_DEAD = `status = ${STATUS_CODES.dead}`;

const countOf = (row: "new" | "old", change: 1 | -1) => `
  INSERT INTO holdfast_dead_count (word, key, q, count) VALUES
    ${DEAD_WORDS.map((word) => `('${word}', coalesce(${row}.${DEAD_COLUMNS[word]}, ''), ${row}.q, ${change})`).join(",\n    ")}
  ON CONFLICT (word, key, q) DO UPDATE SET count = count + excluded.count;`;
const forget = (word: DeadWord) => `
  DELETE FROM holdfast_dead_count WHERE word = '${word}' AND key = coalesce(old.${DEAD_COLUMNS[word]}, '')
    AND q = old.q AND count = 0;`;

/** The step of `migrations.ts` that makes them. */
export const DEAD_COUNTS = `
CREATE TABLE holdfast_dead_count (
  word TEXT NOT NULL,
  key TEXT NOT NULL,
  q INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (word, key, q)
) STRICT, WITHOUT ROWID;
${DEAD_WORDS.map(
  (word) => `
CREATE INDEX holdfast_dead_${word} ON holdfast_unhappy (${DEAD_COLUMNS[word]}, q, finished_at, seq) WHERE ${IS_DEAD};
INSERT INTO holdfast_dead_count (word, key, q, count)
  SELECT '${word}', coalesce(${DEAD_COLUMNS[word]}, ''), q, count(*) FROM holdfast_unhappy WHERE ${IS_DEAD} GROUP BY 2, 3;`,
).join("")}
CREATE TRIGGER holdfast_dead_came AFTER INSERT ON holdfast_unhappy WHEN new.${IS_DEAD} BEGIN
  ${countOf("new", 1)}
END;
CREATE TRIGGER holdfast_dead_went AFTER DELETE ON holdfast_unhappy WHEN old.${IS_DEAD} BEGIN
  ${countOf("old", -1)}
  ${DEAD_WORDS.map(forget).join("\n  ")}
END;
`;

const NUMBER_OF_QUEUE = "SELECT q FROM holdfast_queue WHERE name = ?";
const ID_OF = "SELECT id FROM holdfast_job WHERE seq = ?";
const OF_QUEUES = "SELECT name, q, dead FROM holdfast_queue WHERE dead > 0";
const OF_WORD = "SELECT key, q, count FROM holdfast_dead_count WHERE word = ?";

interface Kind {
  readonly key: string;
  readonly queues: number[];
  count: number;
}

export function countDead(db: Connection, { by, queue, limit }: DeadCountRequest): DeadCount[] {
  const q = queue === undefined ? null : (db.value(NUMBER_OF_QUEUE, queue) as number | undefined);
  if (limit <= 0 || q === undefined) return [];
  const kinds = new Map<string, Kind>();
  for (const [key, ofQueue, count] of countRows(db, by)) {
    if (q !== null && q !== ofQueue) continue;
    const kind = kinds.get(key) ?? { key, queues: [], count: 0 };
    kinds.set(key, kind);
    kind.queues.push(ofQueue);
    kind.count = Math.min(kind.count + count, COUNTED_TO);
  }
  const most = [...kinds.values()].sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
  return most.slice(0, limit).map((kind) => {
    const key = deadKey(by, kind.key);
    return { key, count: kind.count, ...firstAndLast(db, by, { key, queues: kind.queues }) };
  });
}

function countRows(db: Connection, by: DeadKey) {
  type Row = [key: string, q: number, count: number];
  return by === "queue" ? db.rows<Row>(OF_QUEUES).all() : db.rows<Row>(OF_WORD).all(by);
}

/** By two looks into an index for each queue that has some. */
function firstAndLast(
  db: Connection,
  by: DeadKey,
  { key, queues }: { readonly key: string | null; readonly queues: readonly number[] },
): Pick<DeadCount, "firstAt" | "lastAt" | "example"> {
  const [alike, values] =
    by === "queue"
      ? [`holdfast_done WHERE ${IS_DEAD}`, []]
      : [
          `holdfast_unhappy INDEXED BY holdfast_dead_${by} WHERE ${IS_DEAD} AND ${DEAD_COLUMNS[by]} IS ?`,
          [key],
        ];
  const end = (order: "ASC" | "DESC") => `
    SELECT finished_at, seq FROM ${alike} AND q = ? ORDER BY finished_at ${order}, seq ${order} LIMIT 1`;
  type End = [finishedAt: number, seq: number];
  let firstAt = Infinity;
  let last: End = [-Infinity, 0];
  for (const q of queues) {
    const first = db.rows<End>(end("ASC")).get(...values, q);
    const newest = db.rows<End>(end("DESC")).get(...values, q);
    if (first === undefined || newest === undefined) continue;
    firstAt = Math.min(firstAt, first[0]);
    if (newest[0] > last[0] || (newest[0] === last[0] && newest[1] > last[1])) last = newest;
  }
  return { firstAt, lastAt: last[0], example: String(db.value(ID_OF, last[1])) };
}
