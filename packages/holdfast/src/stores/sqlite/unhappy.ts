/**
 * The dead and the cancelled, with everything they are looked for by (`looking-schema.ts`). A job's row is
 * written when it ends so and deleted when it leaves that place, in the same transaction.
 */
import { COUNTED_TO } from "../../core/line.ts";
import type { FinishedStatus } from "../../core/job.ts";
import type { DeadCount, DeadCountRequest, DeadKey } from "../../core/store.ts";
import type { Connection } from "./connection.ts";
import { STATUS_CODES } from "./status-codes.ts";
import type { Transaction } from "./transaction.ts";

const ALL = Number.MAX_SAFE_INTEGER;

const ADD = `
  INSERT INTO holdfast_unhappy (status, seq, q, grp, type, category, fingerprint, created_at, finished_at)
  SELECT ?, j.seq, j.q, j.grp, j.type, t.category, t.fingerprint, j.created_at, ?
  FROM holdfast_job j LEFT JOIN holdfast_details t ON t.seq = j.seq WHERE j.seq = ?`;
const ADD_TAGS = `
  INSERT OR IGNORE INTO holdfast_unhappy_tag (status, tag, seq)
  SELECT ?, e.value, j.seq FROM holdfast_job j CROSS JOIN json_each(j.tags) e WHERE j.seq = ?`;
const DROP = "DELETE FROM holdfast_unhappy WHERE status = ? AND seq = ?";
const DROP_TAGS = `
  DELETE FROM holdfast_unhappy_tag WHERE status = ?1 AND seq = ?2 AND tag IN (
    SELECT e.value FROM holdfast_job j CROSS JOIN json_each(j.tags) e WHERE j.seq = ?2)`;

interface Unhappy {
  readonly seq: number;
  readonly as: FinishedStatus;
  /** The body has tags, metadata or a trace. */
  readonly hasExtras: boolean;
}

/** Its details are written already. */
export function addUnhappy(tx: Transaction, job: Unhappy & { readonly finishedAt: number }): void {
  const status = STATUS_CODES[job.as];
  tx.db.run(ADD, status, job.finishedAt, job.seq);
  if (job.hasExtras) tx.db.run(ADD_TAGS, status, job.seq);
}

/** Its body is still there. */
export function dropUnhappy(tx: Transaction, job: Unhappy): void {
  const status = STATUS_CODES[job.as];
  tx.db.run(DROP, status, job.seq);
  if (job.hasExtras) tx.db.run(DROP_TAGS, status, job.seq);
}

const COLUMNS: Readonly<Record<DeadKey, string>> = {
  fingerprint: "fingerprint",
  category: "category",
  type: "type",
  queue: "q",
  group: "grp",
};
const NAME_OF_QUEUE = "SELECT name FROM holdfast_queue WHERE q = ?";
const NUMBER_OF_QUEUE = "SELECT q FROM holdfast_queue WHERE name = ?";
const ID_OF = "SELECT id FROM holdfast_job WHERE seq = ?";

/** Everything is in the index and in its order: 100 thousand dead jobs are some ten milliseconds. */
function dead(by: DeadKey, isOfOneQueue: boolean): string {
  const index = isOfOneQueue ? "queue" : by;
  return `FROM holdfast_unhappy s INDEXED BY holdfast_unhappy_${index}
    WHERE s.status = ${STATUS_CODES.dead} ${isOfOneQueue ? "AND s.q = ?" : ""}`;
}

export function countDead(db: Connection, { by, queue, limit }: DeadCountRequest): DeadCount[] {
  const q = queue === undefined ? null : (db.value(NUMBER_OF_QUEUE, queue) as number | undefined);
  if (limit <= 0 || q === undefined) return [];
  const [column, from, of] = [COLUMNS[by], dead(by, q !== null), q === null ? [] : [q]];
  const counts = `
    SELECT s.${column}, min(count(*), ${COUNTED_TO}) AS counted, min(s.finished_at),
      max(s.finished_at)
    ${from} GROUP BY s.${column} ORDER BY counted DESC, s.${column} LIMIT ? + 0`;
  const example = `
    SELECT s.seq ${from} AND s.${column} IS ? AND s.finished_at = ? ORDER BY s.seq DESC LIMIT 1`;
  type Row = [key: string | number | null, count: number, firstAt: number, lastAt: number];
  // Queues have no names here, so all of them are put in order.
  const rows = db.rows<Row>(counts).all(...of, by === "queue" ? ALL : limit);
  const named = rows.map((row) => ({ row, key: keyOf(db, by, row[0]) }));
  named.sort((a, b) => b.row[1] - a.row[1] || ((a.key ?? "") < (b.key ?? "") ? -1 : 1));
  return named.slice(0, limit).map(({ row: [value, count, firstAt, lastAt], key }) => {
    const seq = db.value(example, ...of, value, lastAt) as number;
    return { key, count, firstAt, lastAt, example: String(db.value(ID_OF, seq)) };
  });
}

function keyOf(db: Connection, by: DeadKey, value: string | number | null): string | null {
  if (by === "queue") return String(db.value(NAME_OF_QUEUE, value));
  return value === null ? null : String(value);
}
