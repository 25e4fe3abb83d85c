/**
 * The tables. All begin with `holdfast_`, so that jobs can live in a file beside the tables of the
 * application that makes them; the version is a row of ours, not the file's `user_version`.
 *
 * What never changes is split from what moves. The body of a job is written once, into `job`. A tiny
 * row says where the job stands and is the only thing that moves:
 *
 *     ready ──lease──▶ leased ──settle──▶ done        (later: queued, but not due yet)
 *
 * `details`, `step`, `log` and `attempt` hold what has happened to a job beyond that. A job that
 * succeeds at its first attempt and says nothing has no row there, and `flags` says so.
 *
 * Read against one table with a status column: a third fewer pages written per job, and a cost that
 * does not grow with the number of finished jobs.
 */
export const TABLES = `
-- What all share: the last number given to a job or a line (never given twice), the highest instant
-- any writer has used (microseconds), and the last version given to any record: one number for all
-- of them makes each grow across its deletion, with nothing to remember of the deleted.
CREATE TABLE holdfast_head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  seq INTEGER NOT NULL,
  clock INTEGER NOT NULL,
  record_version INTEGER NOT NULL
) STRICT;
INSERT INTO holdfast_head VALUES (1, 0, 0, 0);

-- held_until: 0 for not held, see lines.ts. turn_line, turn_left: whose turn it is, see core/turns.ts.
-- The counts are kept by the transactions that move jobs, one write per queue and transaction.
CREATE TABLE holdfast_queue (
  q INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  held_until INTEGER NOT NULL DEFAULT 0,
  max_active INTEGER,
  max_active_per_group INTEGER,
  max_waiting INTEGER,
  turn_line INTEGER NOT NULL DEFAULT 0,
  turn_left INTEGER NOT NULL DEFAULT 0,
  ready INTEGER NOT NULL DEFAULT 0,
  delayed INTEGER NOT NULL DEFAULT 0,
  processing INTEGER NOT NULL DEFAULT 0,
  succeeded INTEGER NOT NULL DEFAULT 0,
  dead INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0
) STRICT;

-- state: 0 idle (surely no ready job), 1 open (perhaps some), 2 held, 3 full. Only open lines are in
-- the ring, so held and full ones cost a lease nothing. active counts capped leases only.
CREATE TABLE holdfast_line (
  line INTEGER PRIMARY KEY,
  q INTEGER NOT NULL,
  grp TEXT NOT NULL,
  state INTEGER NOT NULL,
  weight INTEGER,
  max_active INTEGER,
  active INTEGER NOT NULL DEFAULT 0,
  held_until INTEGER NOT NULL DEFAULT 0,
  UNIQUE (q, grp)
) STRICT;
CREATE INDEX holdfast_line_open ON holdfast_line (q, line) WHERE state = 1;
CREATE INDEX holdfast_line_held ON holdfast_line (q, held_until) WHERE state = 2;

-- line 0: a hold of the whole queue.
CREATE TABLE holdfast_hold (
  q INTEGER NOT NULL,
  line INTEGER NOT NULL,
  owner TEXT NOT NULL,
  reason TEXT NOT NULL,
  by_whom TEXT,
  until INTEGER,
  since INTEGER NOT NULL,
  PRIMARY KEY (q, line, owner)
) STRICT, WITHOUT ROWID;

-- key_life: null without a key, -1 kept, -2 until finished, else milliseconds. The payload comes
-- last: whatever stands before it is read without its pages.
CREATE TABLE holdfast_job (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  q INTEGER NOT NULL,
  grp TEXT NOT NULL,
  type TEXT NOT NULL,
  prio INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  key TEXT,
  key_life INTEGER,
  key_hash TEXT,
  tags TEXT,
  meta TEXT,
  trace TEXT,
  payload TEXT NOT NULL
) STRICT;

-- run_at: null if due when it was created. flags: see placement.ts.
CREATE TABLE holdfast_ready (
  line INTEGER NOT NULL,
  prio INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  crashes INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  settled_fence INTEGER NOT NULL,
  run_at INTEGER,
  flags INTEGER NOT NULL,
  PRIMARY KEY (line, prio, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE holdfast_later (
  seq INTEGER PRIMARY KEY,
  q INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  crashes INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  settled_fence INTEGER NOT NULL,
  flags INTEGER NOT NULL
) STRICT;
CREATE INDEX holdfast_later_due ON holdfast_later (q, run_at, seq);

CREATE TABLE holdfast_worker (
  w INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- No index on until: the table holds what runs now, so a reap reads all of it in less time than the
-- index would cost every lease and settle. spent: what this lease added to attempts. updated_at: null
-- if nothing has happened since the lease.
CREATE TABLE holdfast_leased (
  seq INTEGER PRIMARY KEY,
  q INTEGER NOT NULL,
  line INTEGER NOT NULL,
  prio INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  crashes INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  settled_fence INTEGER NOT NULL,
  run_at INTEGER,
  flags INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  capped INTEGER NOT NULL,
  w INTEGER NOT NULL,
  leased_at INTEGER NOT NULL,
  until INTEGER NOT NULL,
  updated_at INTEGER,
  updates_order INTEGER NOT NULL DEFAULT 0,
  cancel_asked INTEGER NOT NULL DEFAULT 0,
  cancel_reason TEXT,
  cancel_by TEXT
) STRICT;

-- status: 1 succeeded, 2 dead, 3 cancelled. settled_fence: null if it is the fence, which it nearly
-- always is. took: from the start of the last attempt to the end.
-- Rows lie in the order in which jobs finish, so that finishing writes at one place of the table;
-- jobs of many groups finish in no order of their numbers, and only the small index by number is
-- written all over. Prune walks the table itself.
CREATE TABLE holdfast_done (
  q INTEGER NOT NULL,
  status INTEGER NOT NULL,
  finished_at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  crashes INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  settled_fence INTEGER,
  run_at INTEGER,
  flags INTEGER NOT NULL,
  took INTEGER,
  w INTEGER,
  result_dropped INTEGER NOT NULL,
  result TEXT,
  PRIMARY KEY (q, status, finished_at, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX holdfast_done_seq ON holdfast_done (seq);
CREATE INDEX holdfast_done_unhappy ON holdfast_done (status, seq) WHERE status > 1;

-- started_at and worker are here for a queued job; elsewhere the moving row has them. result: of an
-- adopted job that had one although it has not succeeded here.
CREATE TABLE holdfast_details (
  seq INTEGER PRIMARY KEY,
  updated_at INTEGER NOT NULL,
  started_at INTEGER,
  worker TEXT,
  deferrals INTEGER NOT NULL DEFAULT 0,
  category TEXT,
  message TEXT,
  stack TEXT,
  fingerprint TEXT,
  reason TEXT,
  by_whom TEXT,
  percent REAL,
  note TEXT,
  checkpoint TEXT,
  result TEXT
) STRICT;

CREATE TABLE holdfast_step (
  n INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  UNIQUE (seq, name)
) STRICT;

CREATE TABLE holdfast_log (
  seq INTEGER NOT NULL,
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (seq, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE holdfast_attempt (
  seq INTEGER NOT NULL,
  n INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  worker TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  category TEXT,
  message TEXT,
  stack TEXT,
  PRIMARY KEY (seq, n)
) STRICT, WITHOUT ROWID;

-- A key may outlive its job: then only the id is left.
CREATE TABLE holdfast_key (
  q INTEGER NOT NULL,
  key TEXT NOT NULL,
  id TEXT NOT NULL,
  hash TEXT NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (q, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX holdfast_key_expiry ON holdfast_key (expires_at) WHERE expires_at IS NOT NULL;

-- What is remembered of a deleted job.
CREATE TABLE holdfast_gone (
  id TEXT PRIMARY KEY,
  settled_fence INTEGER NOT NULL,
  forget_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX holdfast_gone_forget ON holdfast_gone (forget_at);

CREATE TABLE holdfast_outbox (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  entries TEXT NOT NULL
) STRICT;

CREATE TABLE holdfast_ledger (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  job_id TEXT,
  type TEXT,
  queue TEXT,
  grp TEXT,
  category TEXT,
  state TEXT NOT NULL,
  at INTEGER NOT NULL,
  amended_at INTEGER,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX holdfast_ledger_at ON holdfast_ledger (at, n);
CREATE INDEX holdfast_ledger_kind ON holdfast_ledger (kind, at, n);
CREATE INDEX holdfast_ledger_job ON holdfast_ledger (job_id, at, n) WHERE job_id IS NOT NULL;

CREATE TABLE holdfast_record (
  key TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  expires_at INTEGER,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX holdfast_record_expiry ON holdfast_record (expires_at) WHERE expires_at IS NOT NULL;
`;

/** What tells a crash from a lease that never started: see `reap.ts` and `disown.ts`. */
export const UNCHARGED_LEASES = `
-- 1: its holder has said that it starts. Asked only of jobs that have crashed before.
ALTER TABLE holdfast_leased ADD COLUMN started INTEGER NOT NULL DEFAULT 0;

-- Workers' ids that are not leased with any more. kept: what each had, a JSON list of id:fence.
CREATE TABLE holdfast_disowned (
  w INTEGER PRIMARY KEY,
  forget_at INTEGER NOT NULL,
  kept TEXT NOT NULL
) STRICT;
`;

/** What upkeep and the clock need: see `prune.ts`, `clock.ts`, `lease.ts`. */
export const UPKEEP_AND_CLOCK = `
-- When a job of the queue last moved, or a setting of it changed.
ALTER TABLE holdfast_queue ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;

-- While the host's clock is behind ours: where the two stood when that was noticed (microseconds).
ALTER TABLE holdfast_head ADD COLUMN anchor_mark INTEGER;
ALTER TABLE holdfast_head ADD COLUMN anchor_wall INTEGER;

-- For a caller that wants nothing of capped lines: ten thousand of those cost it nothing.
CREATE INDEX holdfast_line_free ON holdfast_line (q, line) WHERE state = 1 AND max_active IS NULL;
`;
