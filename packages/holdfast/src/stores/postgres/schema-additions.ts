/** What came after the first tables of `schema.ts`, one text for each step of `migrations.ts`. */
import { BLOCK_BITS } from "./queue-blocks.ts";
import { UNANALYSED } from "./schema.ts";

/** The first line is for databases that have the old name. */
export const DISOWNING = `
ALTER TABLE IF EXISTS holdfast.trail RENAME TO job_details;

-- Its holder has said that the handler starts. Asked only of jobs that have crashed before.
ALTER TABLE holdfast.leased ADD COLUMN is_started boolean NOT NULL DEFAULT false;

-- Workers that lost a reply of lease, and the leases they knew of: by number and fence, since fences
-- are not unique between jobs.
CREATE TABLE holdfast.disowned (
  worker text PRIMARY KEY,
  forget_at bigint NOT NULL,
  kept_seqs bigint[] NOT NULL,
  kept_fences bigint[] NOT NULL
);

-- Where large payloads are; see byte-bound.ts. Nearly always empty.
CREATE INDEX ready_large ON holdfast.ready (q) WHERE flags & 4 = 4;
`;

/**
 * The ring of open lines; see `line-ring.ts`. ring_from: where the pass over all lines goes on, null if
 * none is under way. A queue that has settings for its lines already gets its ring from the first pass.
 */
export const LINE_RING = `
CREATE TABLE holdfast.open_line (
  q integer NOT NULL,
  grp text COLLATE "C" NOT NULL,
  is_capped boolean NOT NULL
);
CREATE INDEX open_line_place ON holdfast.open_line (q, grp);
CREATE INDEX open_line_free ON holdfast.open_line (q, grp) WHERE NOT is_capped;
ALTER TABLE holdfast.queue ADD COLUMN has_ring boolean NOT NULL DEFAULT false,
  ADD COLUMN ring_from text COLLATE "C",
  ADD COLUMN ring_wait_ms bigint NOT NULL DEFAULT 0,
  ADD COLUMN ring_due_at bigint NOT NULL DEFAULT 0;
UPDATE holdfast.queue SET has_ring = true, ring_from = ''
WHERE has_lines OR max_active_per_group IS NOT NULL;

-- is_shut: it is not in the ring because of a hold.
ALTER TABLE holdfast.line ADD COLUMN is_shut boolean NOT NULL DEFAULT false;
CREATE INDEX line_held ON holdfast.line (q, held_until) WHERE held_until > 0;
CREATE INDEX line_shut ON holdfast.line (q, held_until) WHERE is_shut;

ALTER TABLE holdfast.open_line SET (${UNANALYSED});
ALTER TABLE holdfast.line SET (${UNANALYSED});
`;

/**
 * What people look for, without a price for the jobs that nobody looks for. The words of a dead or
 * cancelled job stand in its row of done; a success has none, and the indexes pass it by. Of all other
 * jobs, queue_block says in which thousands of numbers a queue has some (`queue-blocks.ts`).
 */
export const LOOKING = `
ALTER TABLE holdfast.done ADD COLUMN id uuid, ADD COLUMN grp text COLLATE "C",
  ADD COLUMN type text COLLATE "C", ADD COLUMN category text COLLATE "C",
  ADD COLUMN fingerprint text COLLATE "C", ADD COLUMN tags text, ADD COLUMN created_at bigint;
UPDATE holdfast.done d SET id = j.id, grp = j.grp, type = j.type, tags = j.tags,
  created_at = j.created_at, category = t.category, fingerprint = t.fingerprint
FROM holdfast.job j LEFT JOIN holdfast.job_details t ON t.seq = j.seq
WHERE d.status > 1 AND j.seq = d.seq;
CREATE INDEX done_unhappy_queue ON holdfast.done (status, q, seq) WHERE status > 1;
CREATE INDEX done_unhappy_group ON holdfast.done (status, grp, seq) WHERE status > 1;
CREATE INDEX done_unhappy_type ON holdfast.done (status, type, seq) WHERE status > 1;
CREATE INDEX done_unhappy_category ON holdfast.done (status, category, seq) WHERE status > 1;
CREATE INDEX done_unhappy_print ON holdfast.done (status, fingerprint, seq) WHERE status > 1;

-- Jobs that were tried before, and jobs that were not due when they came.
CREATE INDEX ready_tried ON holdfast.ready (q, seq) WHERE attempts > 0;
CREATE INDEX delayed_tried ON holdfast.delayed (q, seq) WHERE attempts > 0;
CREATE INDEX ready_late ON holdfast.ready (q, run_at) WHERE run_at IS NOT NULL;
CREATE INDEX delayed_when ON holdfast.delayed (run_at, seq);
CREATE INDEX delayed_line ON holdfast.delayed (q, grp, seq);

CREATE TABLE holdfast.queue_block (
  q integer NOT NULL,
  block bigint NOT NULL
);
CREATE INDEX queue_block_place ON holdfast.queue_block (q, block);
INSERT INTO holdfast.queue_block (q, block) SELECT DISTINCT q, seq >> ${BLOCK_BITS} FROM holdfast.job;

ALTER TABLE holdfast.ledger ADD COLUMN fingerprint text COLLATE "C",
  ADD COLUMN company text COLLATE "C", ADD COLUMN is_final boolean;
CREATE INDEX ledger_queue ON holdfast.ledger (kind, queue, at, n) WHERE queue IS NOT NULL;
CREATE INDEX ledger_type ON holdfast.ledger (kind, type, at, n) WHERE type IS NOT NULL;
CREATE INDEX ledger_category ON holdfast.ledger (kind, category, at, n) WHERE category IS NOT NULL;
CREATE INDEX ledger_print ON holdfast.ledger (kind, fingerprint, at, n)
  WHERE fingerprint IS NOT NULL;
CREATE INDEX ledger_state ON holdfast.ledger (kind, state, at, n);

-- used_at: of the row that folding makes (slot 0), when a job last came, went or moved.
ALTER TABLE holdfast.tally ADD COLUMN used_at bigint;
-- set_at: when its settings or holds were last changed.
ALTER TABLE holdfast.queue ADD COLUMN set_at bigint NOT NULL DEFAULT 0;
CREATE INDEX tally_slot ON holdfast.tally (slot) WHERE slot > 0;
CREATE INDEX tally_zero ON holdfast.tally (used_at) WHERE slot = 0 AND ready = 0 AND delayed = 0
  AND succeeded = 0 AND dead = 0 AND cancelled = 0;
`;

/** By block, so that those without jobs are found. */
export const BLOCK_ORDER = `
CREATE INDEX queue_block_order ON holdfast.queue_block (block);
`;

/** Where the store's clock and the server's stood when the server's was found behind; see `clock.ts`. */
export const STEADY_CLOCK = `
ALTER TABLE holdfast.head ADD COLUMN ahead_mark bigint, ADD COLUMN ahead_host bigint;
`;
