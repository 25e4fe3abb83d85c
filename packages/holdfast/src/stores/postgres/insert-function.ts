/**
 * Inserting, inside the database: one round trip for a whole batch of jobs.
 *
 * Jobs without keys for queues without a bound go the short way: body and place, and the unique index
 * on ids finds the duplicates. Everything else goes the careful way, which decides in the order of
 * the promise: id, then key, then room. The order of locks is everywhere: bounded queue, key, id,
 * tally; keys in their own order, so that two callers with the same keys never wait for each other in
 * a circle.
 *
 * A key that another transaction is just taking or freeing is waited for; nothing else is. Who lost a
 * key is told by a second statement: the first one's snapshot is older than the winner's commit. If
 * the wait takes too long, all of it fails, and whoever asks again is wary (p_is_wary): each key is
 * tried alone first, and those that are busy are told so, without their neighbours.
 *
 * Codes: 0 candidate, 1 added, 2 duplicate, 3 conflict, 4 full, 5 busy. A null array means "all added".
 * p_size: the bits of flags that a large payload has; null if there is none.
 * Adopted jobs bring their past along (p_created and what follows); a finished one gets no place
 * here, that is for the caller to say.
 */
import { clockUs } from "./clock.ts";
import { eachOf, PINNED } from "./pinned.ts";
import { NOTE_BLOCKS } from "./queue-blocks.ts";
import { countUp } from "./tally.ts";

/** The key `k` of an item `u` is free, its own, or of one behind it in this call. */
const IS_NOT_REFUSED = `u.code <> 0 OR k.id IS NULL OR k.id = u.id OR (
              array_position(p_id, k.id) = ANY (v_claimed) AND u.ord < array_position(p_id, k.id))`;

/** The key that an item `u` has taken in this transaction: nobody else can change it. */
const OWN_KEY = eachOf(`SELECT x.ctid AS place FROM holdfast.key x
          WHERE x.q = u.q AND x.key = u.key AND x.id = u.id`);

export const INSERT_FUNCTION = `
CREATE OR REPLACE FUNCTION holdfast.insert_jobs(
  p_seen bigint, p_is_late boolean, p_is_bounded boolean, p_wait_ms integer, p_is_wary boolean,
  p_first uuid,
  p_id uuid[], p_q integer[], p_grp text[], p_type text[], p_prio integer[], p_payload text[],
  p_max integer[], p_delay bigint[], p_run_at bigint[],
  p_key text[], p_hash text[], p_life bigint[], p_tags text[], p_meta text[], p_trace text[],
  p_size integer[],
  p_created bigint[], p_status integer[], p_attempts integer[], p_crashes integer[],
  p_fence bigint[],
  OUT now_us bigint, OUT codes integer[], OUT others uuid[], OUT statuses integer[],
  OUT bounds bigint[], OUT seqs bigint[])
LANGUAGE plpgsql
${PINNED} SET lock_timeout = 0
AS $$
#variable_conflict use_column
DECLARE
  v_now bigint;
  v_count integer := cardinality(p_id);
  v_is_bounded boolean;
  v_is_old boolean;
  v_is_ringed boolean;
  v_bounded integer[];
  v_added bigint[];
  v_known uuid[];
  v_claimed integer[];
  v_places tid[];
  v_q integer;
  v_n integer;
  v_key record;
BEGIN
  PERFORM set_config('lock_timeout', p_wait_ms::text, true);
  now_us := ${clockUs("p_seen", "NOT p_is_late")};
  v_now := now_us / 1000;
  -- Ids begin with their time, so a new one is nearly always newer than all that are remembered.
  SELECT p_is_bounded AND EXISTS (SELECT 1 FROM holdfast.queue
      WHERE q = ANY (p_q) AND max_waiting IS NOT NULL),
    p_first <= (SELECT id FROM holdfast.gone ORDER BY id DESC LIMIT 1),
    EXISTS (SELECT 1 FROM holdfast.queue WHERE q = ANY (p_q) AND has_ring)
  INTO v_is_bounded, v_is_old, v_is_ringed;
  IF v_is_bounded THEN
    v_bounded := (SELECT array_agg(q ORDER BY q) FROM holdfast.queue
      WHERE q = ANY (p_q) AND max_waiting IS NOT NULL);
  END IF;

  IF p_key IS NOT NULL OR v_is_bounded OR v_is_old
  THEN
    -- A caller's own transaction may stay open for long: it takes no lock that others need.
    IF NOT p_is_late AND v_bounded IS NOT NULL THEN
      FOREACH v_q IN ARRAY v_bounded LOOP
        PERFORM pg_advisory_xact_lock(
          hashtextextended('insert', 'holdfast.job'::regclass::oid::bigint << 32 | v_q));
      END LOOP;
    END IF;
    v_known := ARRAY(
      SELECT j.id FROM holdfast.job j WHERE j.id = ANY (p_id) UNION ALL
      SELECT g.id FROM holdfast.gone g WHERE g.id = ANY (p_id) AND g.forget_at > v_now);
    codes := ARRAY(SELECT CASE WHEN u.id = ANY (v_known) THEN 2 ELSE 0 END
      FROM unnest(p_id) WITH ORDINALITY AS u (id, ord) ORDER BY ord);
    others := p_id;

    IF p_key IS NOT NULL AND p_is_wary THEN
      FOR v_key IN
        SELECT DISTINCT ON (u.q, u.key) u.q, u.key, u.id
        FROM unnest(p_q, p_key, p_id, codes) AS u (q, key, id, code)
        WHERE u.key IS NOT NULL AND u.code = 0 ORDER BY u.q, u.key
      LOOP
        BEGIN
          INSERT INTO holdfast.key (q, key, id, hash)
          VALUES (v_key.q, v_key.key, v_key.id, '') ON CONFLICT (q, key) DO NOTHING;
          -- It was only a question: undone by the error.
          RAISE SQLSTATE 'HF001';
        EXCEPTION
          WHEN SQLSTATE 'HF001' THEN NULL;
          WHEN lock_not_available THEN
            codes := ARRAY(SELECT CASE
                WHEN u.code = 0 AND u.q = v_key.q AND u.key = v_key.key THEN 5 ELSE u.code END
              FROM unnest(p_q, p_key, codes) WITH ORDINALITY AS u (q, key, code, ord)
              ORDER BY ord);
        END;
      END LOOP;
    END IF;

    IF p_key IS NOT NULL THEN
      FOR v_try IN 1..5 LOOP
        v_places := ARRAY(SELECT k.place FROM (
            SELECT u.q, u.key FROM unnest(p_q, p_key, codes) AS u (q, key, code)
            WHERE u.key IS NOT NULL AND u.code = 0 ORDER BY u.q, u.key) AS u
          ${eachOf(`SELECT x.ctid AS place FROM holdfast.key x
            WHERE x.q = u.q AND x.key = u.key AND x.expires_at <= v_now FOR UPDATE`)} AS k);
        DELETE FROM holdfast.key WHERE ctid = ANY (v_places);
        -- The first of each key takes it, unless its lifetime is over already.
        WITH taken AS (
          INSERT INTO holdfast.key (q, key, id, hash, expires_at)
          SELECT DISTINCT ON (u.q, u.key) u.q, u.key, u.id, u.hash,
            CASE WHEN u.life >= 0 THEN coalesce(u.created, v_now) + u.life END
          FROM unnest(p_q, p_key, p_id, p_hash, p_life, p_created, p_status, codes)
            WITH ORDINALITY AS u (q, key, id, hash, life, created, status, code, ord)
          WHERE u.key IS NOT NULL AND u.code = 0
            AND NOT (u.life = -2 AND coalesce(u.status, 0) > 0)
            AND NOT (u.life >= 0 AND coalesce(u.created, v_now) + u.life <= v_now)
          ORDER BY u.q, u.key, u.ord
          ON CONFLICT (q, key) DO NOTHING
          RETURNING id)
        SELECT coalesce(v_claimed, '{}') || coalesce(array_agg(array_position(p_id, t.id)), '{}')
        INTO v_claimed FROM taken t;
        -- A key whose lifetime is over already is taken for this transaction only: else another could
        -- take it between the look and the end, and stand in line before this one all the same.
        IF 0 = ANY (p_life) OR p_created IS NOT NULL THEN
          INSERT INTO holdfast.key (q, key, id, hash, expires_at)
          SELECT DISTINCT ON (u.q, u.key) u.q, u.key, u.id, u.hash, v_now
          FROM unnest(p_q, p_key, p_id, p_hash, p_life, p_created, codes)
            AS u (q, key, id, hash, life, created, code)
          WHERE u.key IS NOT NULL AND u.code = 0 AND u.life >= 0
            AND coalesce(u.created, v_now) + u.life <= v_now
          ORDER BY u.q, u.key
          ON CONFLICT (q, key) DO NOTHING;
        END IF;
        -- In a new statement, which sees who won. A job that takes no key is not refused for the sake
        -- of one behind it in this call, which does.
        SELECT array_agg(CASE WHEN ${IS_NOT_REFUSED} THEN u.code
            WHEN k.hash = u.hash THEN 2 ELSE 3 END ORDER BY u.ord),
          array_agg(CASE WHEN ${IS_NOT_REFUSED} THEN u.other ELSE k.id END ORDER BY u.ord),
          count(*) FILTER (WHERE u.key IS NOT NULL AND u.code = 0 AND k.id IS NULL
            AND NOT (u.life = -2 AND coalesce(u.status, 0) > 0)
            AND NOT (u.life >= 0 AND coalesce(u.created, v_now) + u.life <= v_now))
        INTO codes, others, v_n
        FROM unnest(p_id, p_q, p_key, p_hash, p_life, p_created, p_status, codes, others)
          WITH ORDINALITY AS u (id, q, key, hash, life, created, status, code, other, ord)
        LEFT JOIN holdfast.key k ON k.q = u.q AND k.key = u.key
          AND (k.expires_at IS NULL OR k.expires_at > v_now);
        -- Somebody freed a key between the two statements: it may be had now.
        EXIT WHEN v_n = 0;
        IF v_try = 5 THEN
          RAISE EXCEPTION 'a key changes hands too fast' USING ERRCODE = 'serialization_failure';
        END IF;
      END LOOP;
    END IF;

    IF v_bounded IS NOT NULL THEN
      WITH room AS (
        SELECT b.q, b.max_waiting - coalesce((SELECT sum(t.ready + t.delayed)
            FROM holdfast.tally t WHERE t.q = b.q), 0)
          - coalesce((SELECT sum(l.ready + l.delayed)
            FROM holdfast.tally_late l WHERE l.q = b.q), 0) AS free, b.max_waiting
        FROM holdfast.queue b WHERE b.q = ANY (v_bounded)),
      placed AS (
        SELECT u.ord, u.code, r.max_waiting, u.code = 0 AND r.q IS NOT NULL AND
          count(*) FILTER (WHERE u.code = 0) OVER (PARTITION BY u.q ORDER BY u.ord) > r.free
          AS is_full
        FROM unnest(p_q, codes) WITH ORDINALITY AS u (q, code, ord) LEFT JOIN room r ON r.q = u.q)
      SELECT array_agg(CASE WHEN is_full THEN 4 ELSE code END ORDER BY ord),
        array_agg(max_waiting ORDER BY ord)
      INTO codes, bounds FROM placed;
      -- Who found no room keeps no key, and whoever lost to it in this call found none either.
      IF p_key IS NOT NULL AND 4 = ANY (codes) THEN
        DELETE FROM holdfast.key WHERE ctid = ANY (ARRAY(SELECT k.place
          FROM unnest(p_q, p_key, p_id, codes) AS u (q, key, id, code)
          ${OWN_KEY} AS k WHERE u.code = 4));
        codes := ARRAY(SELECT CASE WHEN u.code IN (2, 3) AND f.id IS NOT NULL AND u.id <> u.other
            THEN 4 ELSE u.code END
          FROM unnest(p_id, codes, others) WITH ORDINALITY AS u (id, code, other, ord)
          LEFT JOIN unnest(p_id, codes) AS f (id, code) ON f.id = u.other AND f.code = 4
          ORDER BY u.ord);
      END IF;
    END IF;
  END IF;

  -- Numbered only now: whoever had to wait for a key stands behind whoever had it.
  -- A statement takes longer to begin than to number one job.
  IF v_count = 1 THEN
    seqs := ARRAY[nextval('holdfast.job_seq')];
  ELSE
    seqs := ARRAY(SELECT nextval('holdfast.job_seq') FROM generate_series(1, v_count));
  END IF;
${NOTE_BLOCKS}
  INSERT INTO holdfast.job (seq, created_at, q, prio, id, grp, type, payload, key, key_life,
    key_hash, tags, meta, trace)
  SELECT u.seq, coalesce(u.created, v_now), u.q, u.prio, u.id, u.grp, u.type, u.payload, u.key,
    u.life, CASE WHEN u.life = -2 THEN u.hash END, u.tags, u.meta, u.trace
  FROM unnest(seqs, p_created, p_q, p_prio, p_id, p_grp, p_type, p_payload, p_key, p_life, p_hash,
    p_tags, p_meta, p_trace, codes)
    AS u (seq, created, q, prio, id, grp, type, payload, key, life, hash, tags, meta, trace, code)
  WHERE coalesce(u.code, 0) = 0
  ON CONFLICT (id) DO NOTHING;
  GET DIAGNOSTICS v_n = ROW_COUNT;
  -- A job that was removed while this call waited for its id left its tombstone after the first look. The
  -- caller tries again, and finds it.
  IF v_n > 0 AND p_first <= (SELECT id FROM holdfast.gone ORDER BY id DESC LIMIT 1)
    AND EXISTS (SELECT 1 FROM holdfast.gone g JOIN holdfast.job j ON j.id = g.id
      WHERE g.id = ANY (p_id) AND g.forget_at > v_now AND j.seq = ANY (seqs))
  THEN
    RAISE EXCEPTION 'a job was removed meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;

  IF v_n < v_count THEN
    v_added := ARRAY(SELECT seq FROM holdfast.job WHERE seq = ANY (seqs));
    codes := ARRAY(SELECT CASE WHEN u.seq = ANY (v_added) THEN 1
        WHEN coalesce(u.code, 0) = 0 THEN 2 ELSE u.code END
      FROM unnest(seqs, codes) WITH ORDINALITY AS u (seq, code, ord) ORDER BY ord);
    others := coalesce(others, p_id);
    IF v_claimed IS NOT NULL THEN
      DELETE FROM holdfast.key WHERE ctid = ANY (ARRAY(SELECT k.place
        FROM unnest(p_q, p_key, p_id, codes) WITH ORDINALITY AS u (q, key, id, code, ord)
        ${OWN_KEY} AS k WHERE u.ord = ANY (v_claimed) AND u.code = 2
          AND NOT EXISTS (SELECT 1 FROM holdfast.job j
            WHERE j.id = u.id AND j.q = u.q AND j.key = u.key)));
    END IF;
    -- A finished one that was adopted in this very call has no place yet.
    statuses := ARRAY(SELECT CASE WHEN u.code IN (2, 3) THEN coalesce(
        CASE WHEN p_status IS NOT NULL THEN (
          SELECT a.status FROM unnest(p_id, p_status, codes) AS a (id, status, code)
          WHERE a.id = u.other AND a.code = 1 AND a.status > 0) END,
        holdfast.status_of(u.other)) END
      FROM unnest(codes, others) WITH ORDINALITY AS u (code, other, ord) ORDER BY ord);
    -- Of those that were not added only the answer is left.
    IF v_n = 0 THEN RETURN; END IF;
  ELSE
    codes := NULL;
  END IF;

  IF v_is_ringed THEN PERFORM holdfast.open_lines(p_q, p_grp); END IF;

  -- What nearly every call is: all are due at once, and none has a past.
  IF p_delay IS NULL AND p_run_at IS NULL AND p_status IS NULL AND NOT p_is_late THEN
    WITH placed AS (
      INSERT INTO holdfast.ready (q, grp, prio, seq, fence, settled_fence, attempts, max_attempts,
        crashes, flags)
      SELECT u.q, u.grp, u.prio, u.seq, 0, 0, 0, u.max, 0,
        CASE WHEN u.key IS NULL THEN 0 ELSE 2 END | coalesce(u.size, 0)
      FROM unnest(seqs, p_q, p_grp, p_prio, p_max, p_key, p_size, codes)
        AS u (seq, q, grp, prio, max, key, size, code)
      WHERE coalesce(u.code, 1) = 1
      RETURNING q)
    ${countUp("SELECT p.q, count(*), 0, 0, 0, 0 FROM placed p GROUP BY p.q")};
    RETURN;
  END IF;

  WITH placed AS (
    SELECT u.*, coalesce(u.run_at, v_now + coalesce(u.delay, 0)) AS due,
      CASE WHEN u.key IS NULL THEN 0 ELSE 2 END | CASE WHEN p_status IS NULL THEN 0 ELSE 1 END
        | coalesce(u.size, 0) AS flags
    FROM unnest(seqs, p_q, p_grp, p_prio, p_max, p_delay, p_run_at, p_key, p_size, p_created,
      p_status, p_attempts, p_crashes, p_fence, codes)
      AS u (seq, q, grp, prio, max, delay, run_at, key, size, created, status, attempts, crashes,
        fence, code)
    WHERE coalesce(u.code, 1) = 1 AND coalesce(u.status, 0) = 0),
  at_once AS (
    INSERT INTO holdfast.ready (q, grp, prio, seq, fence, settled_fence, run_at, attempts,
      max_attempts, crashes, flags)
    SELECT q, grp, prio, seq, coalesce(fence, 0), 0,
      CASE WHEN due <> coalesce(created, v_now) THEN due END, coalesce(attempts, 0), max,
      coalesce(crashes, 0), flags
    FROM placed WHERE due <= v_now),
  later AS (
    INSERT INTO holdfast.delayed (q, grp, prio, seq, fence, settled_fence, run_at, attempts,
      max_attempts, crashes, flags)
    SELECT q, grp, prio, seq, coalesce(fence, 0), 0, due, coalesce(attempts, 0), max,
      coalesce(crashes, 0), flags
    FROM placed WHERE due > v_now)
  SELECT holdfast.count_up(p_is_late, array_agg(q), array_agg(ready), array_agg(delayed),
    NULL, NULL, NULL)
  INTO v_n
  FROM (
    SELECT q, count(*) FILTER (WHERE due <= v_now) AS ready,
      count(*) FILTER (WHERE due > v_now) AS delayed
    FROM placed GROUP BY q) counted;
END $$;
`;
