/** What came after the first tables of `schema.ts`, one text for each step of `migrations.ts`. */
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
