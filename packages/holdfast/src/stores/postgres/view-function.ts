/**
 * Jobs as they are seen, put together inside the database from body, place and past, as JSON: one plan
 * for all. As a plain statement this was planned anew for every look, which took longer than looking.
 */
import { clockUs } from "./clock.ts";
import { bodyOf, eachOf, PINNED } from "./pinned.ts";

/** What a view is made of: a name in it, and where it stands. */
const COLUMNS = {
  seq: "j.seq",
  id: "j.id",
  queue: "q.name",
  group: "j.grp",
  type: "j.type",
  priority: "j.prio",
  payload: "j.payload",
  tags: "j.tags",
  meta: "j.meta",
  trace: "j.trace",
  dedupeKey: "j.key",
  keyLife: "j.key_life",
  createdAt: "j.created_at",
  attempts: "coalesce(d.attempts, p.attempts, a.attempts, r.attempts)",
  maxAttempts: "coalesce(d.max_attempts, p.max_attempts, a.max_attempts, r.max_attempts)",
  crashes: "coalesce(d.crashes, p.crashes, a.crashes, r.crashes)",
  fence: "coalesce(d.fence, p.fence, a.fence, r.fence)",
  runAt: "coalesce(d.run_at, p.run_at, a.run_at, r.run_at)",
  status: "coalesce(d.status, CASE WHEN p.seq IS NULL THEN 0 ELSE 4 END)",
  result: "coalesce(d.result, t.result)",
  resultDropped: "coalesce(d.result_dropped, false)",
  finishedAt: "d.finished_at",
  startedAt: "coalesce(p.leased_at, d.started_at, t.started_at)",
  worker: "coalesce(p.worker, d.worker, t.worker)",
  leasedAt: "p.leased_at",
  leaseUntil: "p.until",
  cancelAsked: "coalesce(p.cancel_asked, false)",
  updatedAt: "greatest(j.created_at, t.updated_at, p.leased_at, p.updated_at, d.finished_at)",
  deferrals: "coalesce(t.deferrals, 0)",
  category: "t.category",
  message: "t.message",
  stack: "t.stack",
  fingerprint: "t.fingerprint",
  reason: "t.reason",
  by: "t.by_whom",
  percent: "t.percent",
  note: "t.note",
  checkpoint: "t.checkpoint",
  steps: `CASE WHEN p_is_whole THEN (
      SELECT json_agg(json_build_object('name', s.name, 'value', s.value) ORDER BY s.n)
      FROM holdfast.step s WHERE s.seq = j.seq) END`,
  logs: `CASE WHEN p_is_whole THEN (
      SELECT json_agg(json_build_object('at', l.at, 'text', l.text) ORDER BY l.n)
      FROM holdfast.log l WHERE l.seq = j.seq) END`,
  history: `CASE WHEN p_is_whole THEN (
      SELECT json_agg(json_build_object('attempt', h.attempt, 'fence', h.fence,
        'worker', h.worker, 'startedAt', h.started_at, 'endedAt', h.ended_at,
        'outcome', h.outcome, 'category', h.category, 'message', h.message, 'stack', h.stack)
        ORDER BY h.n)
      FROM holdfast.attempt h WHERE h.seq = j.seq) END`,
} as const;

export type ViewColumn = keyof typeof COLUMNS;

/** Payloads and results are not read: they may be as large as all the rest a thousand times. */
const BARE_COLUMNS = {
  ...COLUMNS,
  ...{ payload: "'null'", result: "NULL", checkpoint: "NULL" },
  ...{ steps: "NULL", logs: "NULL", history: "NULL" },
};

function fieldsOf(columns: Readonly<Record<ViewColumn, string>>): string {
  const fields = Object.entries(columns).map(([name, source]) => `'${name}', ${source}`);
  return fields.join(",\n    ");
}

const OF_SEQS = `FROM unnest(p_seqs) AS u (seq)
  ${bodyOf("u")} AS j
  ${eachOf("SELECT * FROM holdfast.queue x WHERE x.q = j.q")} AS q
  LEFT JOIN holdfast.done d ON d.seq = j.seq
  LEFT JOIN holdfast.leased p ON p.seq = j.seq
  LEFT JOIN holdfast.delayed a ON a.seq = j.seq
  LEFT JOIN holdfast.ready r ON r.q = j.q AND r.grp = j.grp AND r.prio = j.prio AND r.seq = j.seq
  LEFT JOIN holdfast.job_details t ON t.seq = j.seq`;

/** By numbers or by ids. An id that is only remembered is answered without a number. */
export const VIEW_FUNCTION = `
CREATE OR REPLACE FUNCTION holdfast.view_jobs(p_seen bigint, p_seqs bigint[], p_ids uuid[],
  p_is_whole boolean)
RETURNS SETOF text
LANGUAGE plpgsql STABLE
${PINNED}
AS $$
DECLARE
  v_now bigint := (${clockUs("p_seen", "false")}) / 1000;
BEGIN
  IF p_ids IS NOT NULL THEN
    p_seqs := ARRAY(SELECT j.seq FROM holdfast.job j WHERE j.id = ANY (p_ids));
    IF cardinality(p_seqs) < cardinality(p_ids) THEN
      RETURN QUERY SELECT json_build_object('id', g.id)::text FROM holdfast.gone g
      WHERE g.id = ANY (p_ids) AND g.forget_at > v_now;
    END IF;
  END IF;
  RETURN QUERY
  SELECT json_build_object(${fieldsOf(COLUMNS)})::text
  ${OF_SEQS};
END $$;

CREATE OR REPLACE FUNCTION holdfast.view_bare_jobs(p_seqs bigint[]) RETURNS SETOF text
LANGUAGE plpgsql STABLE
${PINNED}
AS $$
BEGIN
  RETURN QUERY
  SELECT json_build_object(${fieldsOf(BARE_COLUMNS)})::text
  ${OF_SEQS};
END $$;
`;
