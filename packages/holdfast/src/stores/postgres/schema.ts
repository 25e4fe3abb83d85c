/**
 * The tables, in a schema of their own. `holdfast.` stands for it: `SchemaName` puts the real name in.
 *
 * What never changes is split from what moves. The body of a job is written once, into `job`. A tiny
 * row says where the job stands and is the only thing that moves:
 *
 *     ready ──lease──▶ leased ──settle──▶ done        (delayed: queued, but not due yet)
 *
 * These rows are inserted and deleted, never updated (but for a lease's end), so the hot tables stay
 * small however many jobs have finished, and a vacuum of them takes moments. Against one table with a
 * status column this writes two thirds of the log, and it keeps its speed beside a snapshot that
 * somebody holds open for an hour.
 *
 * `job_details`, `step`, `log` and `attempt` hold what has happened to a job beyond that. A job that
 * succeeds at its first attempt and says nothing has no row there, and `flags` says so.
 *
 * Instants are milliseconds, fences and versions microseconds of the database's clock. Text is
 * compared by its bytes (`COLLATE "C"`), and JSON is text: jsonb would rewrite it.
 */
export const TABLES = `
CREATE TABLE holdfast.meta (
  key text PRIMARY KEY,
  value text NOT NULL
);

-- The latest instant anybody has noted, in microseconds; see clock.ts.
CREATE TABLE holdfast.head (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  clock bigint NOT NULL
);
INSERT INTO holdfast.head (clock) VALUES (0);

-- A queue has its number before anybody knows whether its first job is taken or refused, so a row
-- alone means nothing: is_set says that it has or had settings or holds, a row in tally that it has or
-- had jobs. held_until: the end of its last hold, 0 for none. has_lines: there may be rows in line.
-- has_caps: some cap concerns some line of it.
CREATE TABLE holdfast.queue (
  q integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  held_until bigint NOT NULL DEFAULT 0,
  max_active bigint,
  max_active_per_group bigint,
  max_waiting bigint,
  is_set boolean NOT NULL DEFAULT false,
  has_lines boolean NOT NULL DEFAULT false,
  has_caps boolean NOT NULL DEFAULT false
);

-- Only lines with settings or holds. Which lines there are is asked of ready itself: a row that said
-- "this line has ready jobs" would be wrong for every insert that has not committed yet.
CREATE TABLE holdfast.line (
  q integer NOT NULL,
  grp text COLLATE "C" NOT NULL,
  weight integer,
  max_active bigint,
  held_until bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (q, grp)
);

-- is_queue: a hold of the whole queue, and grp says nothing.
CREATE TABLE holdfast.hold (
  q integer NOT NULL,
  is_queue boolean NOT NULL,
  grp text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  by_whom text,
  until bigint,
  since bigint NOT NULL,
  PRIMARY KEY (q, is_queue, grp, owner)
);

CREATE SEQUENCE holdfast.job_seq;

-- key_life: null without a key, -1 kept, -2 until finished, else milliseconds. key_hash is kept here
-- for keys until finished only: the key's own row has gone when its job is revived.
CREATE TABLE holdfast.job (
  seq bigint PRIMARY KEY,
  created_at bigint NOT NULL,
  q integer NOT NULL,
  prio integer NOT NULL,
  id uuid NOT NULL,
  grp text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  key text COLLATE "C",
  key_life bigint,
  key_hash text,
  tags text,
  meta text,
  trace text
);
CREATE UNIQUE INDEX job_id ON holdfast.job (id);

-- run_at: null if it was due when it was created. flags: see placement.ts.
CREATE TABLE holdfast.ready (
  q integer NOT NULL,
  prio integer NOT NULL,
  seq bigint NOT NULL,
  fence bigint NOT NULL,
  settled_fence bigint NOT NULL,
  run_at bigint,
  attempts integer NOT NULL,
  max_attempts integer NOT NULL,
  crashes integer NOT NULL,
  flags integer NOT NULL,
  grp text COLLATE "C" NOT NULL,
  PRIMARY KEY (q, grp, prio, seq)
);

CREATE TABLE holdfast.delayed (
  q integer NOT NULL,
  prio integer NOT NULL,
  seq bigint PRIMARY KEY,
  fence bigint NOT NULL,
  settled_fence bigint NOT NULL,
  run_at bigint NOT NULL,
  attempts integer NOT NULL,
  max_attempts integer NOT NULL,
  crashes integer NOT NULL,
  flags integer NOT NULL,
  grp text COLLATE "C" NOT NULL
);
CREATE INDEX delayed_due ON holdfast.delayed (q, run_at, seq);

-- No index on until: the table holds what runs now, so a reap reads all of it in less time than the
-- index would cost every lease and renewal, which then change the row in place. spent: what this
-- lease added to attempts. updated_at: null if nothing has happened since the lease.
CREATE TABLE holdfast.leased (
  q integer NOT NULL,
  prio integer NOT NULL,
  seq bigint PRIMARY KEY,
  fence bigint NOT NULL,
  settled_fence bigint NOT NULL,
  run_at bigint,
  attempts integer NOT NULL,
  max_attempts integer NOT NULL,
  crashes integer NOT NULL,
  flags integer NOT NULL,
  spent integer NOT NULL,
  cancel_asked boolean NOT NULL DEFAULT false,
  leased_at bigint NOT NULL,
  until bigint NOT NULL,
  updated_at bigint,
  updates_order bigint NOT NULL DEFAULT 0,
  grp text COLLATE "C" NOT NULL,
  worker text NOT NULL,
  cancel_reason text,
  cancel_by text
) WITH (fillfactor = 70);
CREATE INDEX leased_line ON holdfast.leased (q, grp);

-- status: 1 succeeded, 2 dead, 3 cancelled.
CREATE TABLE holdfast.done (
  q integer NOT NULL,
  status smallint NOT NULL,
  result_dropped boolean NOT NULL,
  seq bigint PRIMARY KEY,
  finished_at bigint NOT NULL,
  fence bigint NOT NULL,
  settled_fence bigint NOT NULL,
  run_at bigint,
  started_at bigint,
  attempts integer NOT NULL,
  max_attempts integer NOT NULL,
  crashes integer NOT NULL,
  flags integer NOT NULL,
  worker text,
  result text
);
CREATE INDEX done_age ON holdfast.done (q, status, finished_at, seq);
CREATE INDEX done_unhappy ON holdfast.done (status, seq) WHERE status > 1;

-- The counts of a queue, spread over slots so that parallel writers seldom meet. late: what callers'
-- own transactions have counted; a row of theirs is locked until they end, so it must be their own.
CREATE TABLE holdfast.tally (
  q integer NOT NULL,
  slot bigint NOT NULL,
  ready bigint NOT NULL,
  delayed bigint NOT NULL,
  succeeded bigint NOT NULL,
  dead bigint NOT NULL,
  cancelled bigint NOT NULL,
  PRIMARY KEY (q, slot)
) WITH (fillfactor = 40);
CREATE TABLE holdfast.tally_late (
  q integer NOT NULL,
  ready bigint NOT NULL,
  delayed bigint NOT NULL,
  succeeded bigint NOT NULL,
  dead bigint NOT NULL,
  cancelled bigint NOT NULL
);

-- started_at and worker are here for a queued job; elsewhere the moving row has them. result: of an
-- adopted job that had one although it has not succeeded here.
CREATE TABLE holdfast.job_details (
  seq bigint PRIMARY KEY,
  updated_at bigint NOT NULL,
  started_at bigint,
  deferrals integer NOT NULL DEFAULT 0,
  percent double precision,
  worker text,
  category text COLLATE "C",
  message text,
  stack text,
  fingerprint text,
  reason text,
  by_whom text,
  note text,
  checkpoint text,
  result text
);

CREATE TABLE holdfast.step (
  seq bigint NOT NULL,
  n bigint GENERATED ALWAYS AS IDENTITY,
  name text COLLATE "C" NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (seq, name)
);

CREATE TABLE holdfast.log (
  seq bigint NOT NULL,
  n bigint NOT NULL,
  at bigint NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (seq, n)
);

CREATE TABLE holdfast.attempt (
  seq bigint NOT NULL,
  n bigint NOT NULL,
  fence bigint NOT NULL,
  started_at bigint NOT NULL,
  ended_at bigint NOT NULL,
  attempt integer NOT NULL,
  worker text NOT NULL,
  outcome text NOT NULL,
  category text,
  message text,
  stack text,
  PRIMARY KEY (seq, n)
);

-- A key may outlive its job: then only the id is left.
CREATE TABLE holdfast.key (
  q integer NOT NULL,
  expires_at bigint,
  id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  hash text NOT NULL,
  PRIMARY KEY (q, key)
);
CREATE INDEX key_expiry ON holdfast.key (expires_at) WHERE expires_at IS NOT NULL;

-- What is remembered of a deleted job.
CREATE TABLE holdfast.gone (
  id uuid PRIMARY KEY,
  settled_fence bigint NOT NULL,
  forget_at bigint NOT NULL
);
CREATE INDEX gone_forget ON holdfast.gone (forget_at);

CREATE TABLE holdfast.outbox (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  entries text NOT NULL
);

CREATE TABLE holdfast.ledger (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  amended_at bigint,
  id text COLLATE "C" NOT NULL UNIQUE,
  kind text COLLATE "C" NOT NULL,
  job_id text COLLATE "C",
  type text COLLATE "C",
  queue text COLLATE "C",
  grp text COLLATE "C",
  category text COLLATE "C",
  state text COLLATE "C" NOT NULL,
  body text NOT NULL
);
CREATE INDEX ledger_at ON holdfast.ledger (at, n);
CREATE INDEX ledger_kind ON holdfast.ledger (kind, at, n);
CREATE INDEX ledger_job ON holdfast.ledger (job_id, at, n) WHERE job_id IS NOT NULL;

-- value: null for one that was deleted, whose version is kept for a while, so that the next one of
-- that key has a higher one.
CREATE TABLE holdfast.record (
  key text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  expires_at bigint,
  value text
);
CREATE INDEX record_expiry ON holdfast.record (expires_at) WHERE expires_at IS NOT NULL;
`;

/**
 * The tables whose rows come and go all the time are vacuumed early and at full speed, and never
 * truncated: that would lock everybody out for a moment. Those that are empty at times are not
 * analysed: statistics taken in such a moment once made a lease forty times slower.
 */
export const EARLY = `autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off`;
export const UNANALYSED = `${EARLY}, autovacuum_analyze_threshold = 2000000000`;

export const VACUUM_SETTINGS = [
  ...["ready", "delayed", "leased", "tally", "tally_late"].map((name) => [name, UNANALYSED]),
  ...["key", "record", "job_details", "gone"].map((name) => [name, EARLY]),
]
  .map(([name, settings]) => `ALTER TABLE holdfast.${name} SET (${settings});`)
  .join("\n");
