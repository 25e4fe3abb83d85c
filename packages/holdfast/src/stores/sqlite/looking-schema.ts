/**
 * The step that makes looking cheap: what `find`, `count`, `countDead` and the ledger are asked for is
 * decided by an index. Jobs that succeed at their first attempt have no row in any of these.
 */
export const LOOKING = `
-- Waiting jobs with attempts behind them.
ALTER TABLE holdfast_queue ADD COLUMN retrying INTEGER NOT NULL DEFAULT 0;
UPDATE holdfast_queue SET retrying =
  (SELECT count(*) FROM holdfast_line n CROSS JOIN holdfast_ready r ON r.line = n.line
    WHERE n.q = holdfast_queue.q AND r.attempts > 0)
  + (SELECT count(*) FROM holdfast_later a WHERE a.q = holdfast_queue.q AND a.attempts > 0);

-- Ready jobs that were not due when they were created, or were tried before; the others waited since then
-- and need no row. Two partial indexes of the ready ones said the same, and cost every insert and every
-- lease some hundredths of their time for opening them.
UPDATE holdfast_ready SET run_at = (SELECT created_at FROM holdfast_job j WHERE j.seq = holdfast_ready.seq)
  WHERE run_at IS NULL AND attempts > 0;
CREATE TABLE holdfast_due (
  line INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  PRIMARY KEY (line, run_at, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX holdfast_due_tried ON holdfast_due (seq) WHERE attempts > 0;
INSERT INTO holdfast_due SELECT line, run_at, seq, attempts FROM holdfast_ready WHERE run_at IS NOT NULL;

-- The dead and the cancelled once more, with everything they are looked for by. It takes the place of an
-- index over the finished ones: those who died are few, and what is asked about them is manifold.
CREATE TABLE holdfast_unhappy (
  status INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  q INTEGER NOT NULL,
  grp TEXT NOT NULL,
  type TEXT NOT NULL,
  category TEXT,
  fingerprint TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER NOT NULL,
  PRIMARY KEY (status, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX holdfast_unhappy_queue ON holdfast_unhappy (status, q, seq, finished_at);
CREATE INDEX holdfast_unhappy_group ON holdfast_unhappy (status, grp, seq, q, finished_at);
CREATE INDEX holdfast_unhappy_type ON holdfast_unhappy (status, type, seq, q, finished_at);
CREATE INDEX holdfast_unhappy_category ON holdfast_unhappy (status, category, seq, q, finished_at);
CREATE INDEX holdfast_unhappy_fingerprint
  ON holdfast_unhappy (status, fingerprint, seq, q, finished_at);
CREATE TABLE holdfast_unhappy_tag (
  status INTEGER NOT NULL,
  tag TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (status, tag, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO holdfast_unhappy
  SELECT d.status, d.seq, d.q, j.grp, j.type, t.category, t.fingerprint, j.created_at, d.finished_at
  FROM holdfast_done d JOIN holdfast_job j ON j.seq = d.seq
  LEFT JOIN holdfast_details t ON t.seq = d.seq WHERE d.status > 1;
INSERT OR IGNORE INTO holdfast_unhappy_tag
  SELECT d.status, e.value, d.seq FROM holdfast_done d JOIN holdfast_job j ON j.seq = d.seq
  CROSS JOIN json_each(j.tags) e WHERE d.status > 1;
DROP INDEX holdfast_done_unhappy;

ALTER TABLE holdfast_ledger ADD COLUMN fingerprint TEXT;
ALTER TABLE holdfast_ledger ADD COLUMN company TEXT;
ALTER TABLE holdfast_ledger ADD COLUMN is_final INTEGER;
CREATE INDEX holdfast_ledger_queue ON holdfast_ledger (kind, queue, at, n) WHERE queue IS NOT NULL;
CREATE INDEX holdfast_ledger_type ON holdfast_ledger (kind, type, at, n) WHERE type IS NOT NULL;
CREATE INDEX holdfast_ledger_category
  ON holdfast_ledger (kind, category, at, n) WHERE category IS NOT NULL;
CREATE INDEX holdfast_ledger_fingerprint
  ON holdfast_ledger (kind, fingerprint, at, n) WHERE fingerprint IS NOT NULL;
CREATE INDEX holdfast_ledger_state ON holdfast_ledger (kind, state, at, n);
`;
