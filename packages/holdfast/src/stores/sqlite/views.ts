/**
 * What people read with `sqlite3`: failed attempts and execution locks, under the names that a table of failures and
 * a table of locks usually have. Times are ISO text, booleans 0 and 1. What an application has under these names stays
 * as it is. No payload can make them throw: what is no JSON leaves its columns empty.
 */
const instant = (ms: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${ms} / 1000.0, 'unixepoch')`;
/** A word of JSON text; null if that is none. */
const word = (json: string, path: string) =>
  `CASE WHEN json_valid(${json}) THEN ${json} ->> '$.${path}' END`;

/** The step of `migrations.ts` that makes them. */
export const VIEWS = `
CREATE VIEW IF NOT EXISTS job_failures AS
SELECT l.id AS id,
  l.job_id AS job_id,
  l.type AS job_name,
  l.queue AS queue_name,
  l.company AS company_id,
  CASE WHEN json_valid(l.body) THEN l.body -> '$.payload' END AS payload,
  ${word("l.body", "attempt")} AS attempts,
  ${word("l.body", "maxAttempts")} AS max_attempts,
  coalesce(l.is_final, 0) AS is_final_attempt,
  ${word("l.body", "message")} AS failed_reason,
  ${word("l.body", "stack")} AS stack_trace,
  ${instant("l.at")} AS first_failed_at,
  CASE WHEN l.state = 'resolved' THEN ${instant("l.amended_at")} END AS resolved_at,
  l.category AS category
FROM holdfast_ledger l WHERE l.kind = 'failure';

CREATE VIEW IF NOT EXISTS job_idempotency_locks AS
SELECT ${word("r.value", "id")} AS id,
  ${word("r.value", "company")} AS company_id,
  ${word("r.value", "key")} AS job_key,
  ${word("r.value", "scope")} AS scope_key,
  ${word("r.value", "owner")} AS owner,
  ${word("r.value", "state")} AS status,
  ${word("r.value", "hash")} AS payload_hash,
  ${word("r.value", "jobId")} AS job_id,
  ${instant(word("r.value", "startedAt"))} AS started_at,
  ${instant(word("r.value", "finishedAt"))} AS finished_at
FROM holdfast_record r
WHERE r.key >= 'holdfast/locks/' AND r.key < 'holdfast/locks0'
  AND (r.expires_at IS NULL OR r.expires_at > unixepoch('subsec') * 1000);
`;
