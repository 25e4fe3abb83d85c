/**
 * Dead jobs that are alike. How many there are of each kind stands in `dead_count`, so fifty thousand of them are
 * counted as fast as fifty. No death writes there, or all would wait for one row: a trigger notes each that comes or
 * goes as a row of its own (`dead_late`), and folding adds those up once a second, as it does for the tally. A trigger,
 * not the verbs: so a build that knows nothing of the table notes them too, while it runs beside this one. When the
 * first and the last died is asked of an index.
 */
import { COUNTED_TO } from "../../core/line.ts";
import type { DeadCount, DeadCountRequest, DeadKey } from "../../core/store.ts";
import { DEAD_COLUMNS, DEAD_WORDS, deadKey, type DeadWord } from "../shared/dead-words.ts";
import { PINNED } from "./pinned.ts";
import type { Asker, QueueBook } from "./queue-book.ts";
import { number, text } from "./row-values.ts";
import { UNANALYSED } from "./schema.ts";

const FOLD_AT_MOST = 10_000;
const COUNTED = "q, grp, type, category, fingerprint";

const keyOf = (word: DeadWord) => `coalesce(${DEAD_COLUMNS[word]}, '')`;
const eachWord = (rows: string) =>
  DEAD_WORDS.map(
    (word) =>
      `SELECT '${word}' AS word, ${keyOf(word)} AS key, q, sum(n) AS n FROM ${rows} GROUP BY 1, 2, 3`,
  ).join(" UNION ALL\n    ");

/** The step of `migrations.ts` that makes the tables, and counts who is dead already. */
export const DEAD_COUNTS = `
CREATE TABLE holdfast.dead_count (
  word text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  q integer NOT NULL,
  n bigint NOT NULL,
  PRIMARY KEY (word, key, q)
);
CREATE INDEX dead_count_none ON holdfast.dead_count (word) WHERE n = 0;
CREATE TABLE holdfast.dead_late (
  q integer NOT NULL,
  grp text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  category text COLLATE "C",
  fingerprint text COLLATE "C",
  n integer NOT NULL
);
ALTER TABLE holdfast.dead_count SET (${UNANALYSED});
ALTER TABLE holdfast.dead_late SET (${UNANALYSED});
${DEAD_WORDS.map((word) => `CREATE INDEX done_dead_${word} ON holdfast.done (${keyOf(word)}, q, finished_at, seq) WHERE status = 2;`).join("\n")}
INSERT INTO holdfast.dead_count (word, key, q, n)
  ${eachWord("(SELECT *, 1 AS n FROM holdfast.done WHERE status = 2) d")};

CREATE FUNCTION holdfast.note_dead() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO holdfast.dead_late (${COUNTED}, n)
    VALUES (NEW.q, NEW.grp, NEW.type, NEW.category, NEW.fingerprint, 1);
  ELSE
    INSERT INTO holdfast.dead_late (${COUNTED}, n)
    VALUES (OLD.q, OLD.grp, OLD.type, OLD.category, OLD.fingerprint, -1);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER dead_came AFTER INSERT ON holdfast.done
FOR EACH ROW WHEN (NEW.status = 2) EXECUTE FUNCTION holdfast.note_dead();
CREATE TRIGGER dead_went AFTER DELETE ON holdfast.done
FOR EACH ROW WHEN (OLD.status = 2) EXECUTE FUNCTION holdfast.note_dead();
`;

const FOLD_FUNCTION = `
CREATE OR REPLACE FUNCTION holdfast.fold_dead() RETURNS integer
LANGUAGE plpgsql
${PINNED}
AS $$
#variable_conflict use_column
BEGIN
  WITH late AS (
    DELETE FROM holdfast.dead_late WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM holdfast.dead_late LIMIT ${FOLD_AT_MOST} FOR UPDATE SKIP LOCKED))
    RETURNING ${COUNTED}, n),
  sums AS (
    ${eachWord("late")})
  INSERT INTO holdfast.dead_count AS c (word, key, q, n)
  SELECT s.word, s.key, s.q, s.n FROM sums s ORDER BY s.word, s.key, s.q
  ON CONFLICT (word, key, q) DO UPDATE SET n = c.n + excluded.n;
  DELETE FROM holdfast.dead_count WHERE n = 0;
  RETURN 0;
END $$;
`;

const OF_QUEUES = `
      SELECT x.name AS key, s.q, sum(s.n) AS n FROM (
        SELECT t.q, t.dead AS n FROM holdfast.tally t UNION ALL
        SELECT t.q, t.dead FROM holdfast.tally_late t) s
      CROSS JOIN LATERAL (SELECT y.name FROM holdfast.queue y WHERE y.q = s.q OFFSET 0) x
      WHERE p_q IS NULL OR s.q = p_q GROUP BY x.name, s.q`;
const ofWord = (word: DeadWord) => `
      SELECT s.key, s.q, sum(s.n) AS n FROM (
        SELECT c.key, c.q, c.n FROM holdfast.dead_count c WHERE c.word = '${word}' UNION ALL
        SELECT ${keyOf(word)}, q, n FROM holdfast.dead_late) s
      WHERE p_q IS NULL OR s.q = p_q GROUP BY s.key, s.q`;

/**
 * One for each word: its index is found by the expression alone. A sort is never thought cheap: statistics that call
 * the dead few would read all of a queue to find its first.
 */
function countFunction(by: DeadKey): string {
  const rows = by === "queue" ? OF_QUEUES : ofWord(by);
  const [alike, order] =
    by === "queue" ? ["", ["d.q", "d.status"]] : [`AND ${keyOf(by)} = m.key`, [keyOf(by), "d.q"]];
  const end = (direction: "ASC" | "DESC") => {
    const place = [...order, "d.finished_at", "d.seq"].map((column) => `${column} ${direction}`);
    return `
      SELECT e.finished_at, e.seq, e.id FROM unnest(m.queues) AS u (q) CROSS JOIN LATERAL (
        SELECT d.finished_at, d.seq, d.id FROM holdfast.done d
        WHERE d.status = 2 ${alike} AND d.q = u.q ORDER BY ${place.join()} LIMIT 1) e
      ORDER BY e.finished_at ${direction}, e.seq ${direction} LIMIT 1`;
  };
  return `
CREATE OR REPLACE FUNCTION holdfast.count_dead_${by}(p_limit integer, p_q integer)
RETURNS TABLE (key text, n bigint, first_at bigint, last_at bigint, example uuid)
LANGUAGE plpgsql STABLE
${PINNED}
SET enable_sort = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT m.key, m.n, f.finished_at, l.finished_at, l.id
  FROM (
    SELECT k.key, least(sum(k.n), ${COUNTED_TO})::bigint AS n, array_agg(k.q) AS queues
    FROM (${rows} HAVING sum(s.n) > 0) k
    GROUP BY k.key ORDER BY 2 DESC, k.key COLLATE "C" LIMIT p_limit) m
  CROSS JOIN LATERAL (${end("ASC")}) f
  CROSS JOIN LATERAL (${end("DESC")}) l
  ORDER BY m.n DESC, m.key COLLATE "C";
END $$;
`;
}

export const COUNT_DEAD_FUNCTIONS = [
  FOLD_FUNCTION,
  ...[...DEAD_WORDS, "queue" as const].map(countFunction),
].join("\n");

export async function countDead(
  { db, queues }: { readonly db: Asker; readonly queues: QueueBook },
  { by, queue, limit }: DeadCountRequest,
): Promise<DeadCount[]> {
  const q = queue === undefined ? undefined : await queues.find(queue);
  if (q === null || limit <= 0) return [];
  const rows = await db.rows(`SELECT * FROM holdfast.count_dead_${by}($1, $2)`, [limit, q ?? null]);
  return rows.map((row) => ({
    key: deadKey(by, text(row, 0)),
    count: number(row, 1),
    firstAt: number(row, 2),
    lastAt: number(row, 3),
    example: text(row, 4),
  }));
}
