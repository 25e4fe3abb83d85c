/**
 * What people read in `psql`: failed attempts and execution locks, under the names and types that a table of
 * failures and a table of locks usually have. No payload can make them throw: what JSON of PostgreSQL cannot hold is
 * replaced, and what is no JSON at all leaves its columns empty.
 */
import type { Session } from "./database.ts";
import { codeOf } from "./postgres-error.ts";
import { text } from "./row-values.ts";
import type { SchemaName } from "./schema-name.ts";

const UUID = "'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'";
/** The end of the year 9999, in milliseconds. */
const LAST_INSTANT = 253_402_300_799_999;

/** `greatest` passes over null, and would make it 1970. */
export const instant = (ms: string) =>
  `CASE WHEN ${ms} IS NOT NULL THEN to_timestamp(least(greatest(${ms}, 0), ${LAST_INSTANT}) / 1000.0) END`;
const uuid = (word: string) => `CASE WHEN ${word} ~ ${UUID} THEN (${word})::uuid END`;
const whole = (word: string, type: string) =>
  `CASE WHEN ${word} ~ '^[0-9]{1,${type === "integer" ? 9 : 15}}$' THEN (${word})::${type} END`;

/** The step of `migrations.ts` that makes them. */
export const VIEWS = `
-- Escapes of NUL and of half a surrogate pair are JSON, and jsonb refuses them.
CREATE OR REPLACE FUNCTION holdfast.body_of(p_body text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
  RETURN p_body::jsonb;
EXCEPTION WHEN OTHERS THEN
  BEGIN
    RETURN regexp_replace(p_body, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\ufffd', 'g')::jsonb;
  EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
  END;
END $$;

CREATE OR REPLACE VIEW holdfast.job_failures AS
SELECT ${uuid("l.id")} AS id,
  l.job_id::text AS job_id,
  l.type::text AS job_name,
  l.queue::text AS queue_name,
  ${uuid("l.company")} AS company_id,
  b.body -> 'payload' AS payload,
  ${whole("b.body ->> 'attempt'", "integer")} AS attempts,
  ${whole("b.body ->> 'maxAttempts'", "integer")} AS max_attempts,
  coalesce(l.is_final, false) AS is_final_attempt,
  b.body ->> 'message' AS failed_reason,
  b.body ->> 'stack' AS stack_trace,
  ${instant("l.at")} AS first_failed_at,
  CASE WHEN l.state = 'resolved' THEN ${instant("l.amended_at")} END AS resolved_at,
  l.category::text AS category
FROM holdfast.ledger l
CROSS JOIN LATERAL (SELECT holdfast.body_of(l.body) AS body OFFSET 0) b
WHERE l.kind = 'failure';

CREATE OR REPLACE VIEW holdfast.job_idempotency_locks AS
SELECT ${uuid("b.lock ->> 'id'")} AS id,
  ${uuid("b.lock ->> 'company'")} AS company_id,
  b.lock ->> 'key' AS job_key,
  b.lock ->> 'scope' AS scope_key,
  b.lock ->> 'owner' AS owner,
  b.lock ->> 'state' AS status,
  b.lock ->> 'hash' AS payload_hash,
  b.lock ->> 'jobId' AS job_id,
  ${instant(whole("b.lock ->> 'startedAt'", "bigint"))} AS started_at,
  ${instant(whole("b.lock ->> 'finishedAt'", "bigint"))} AS finished_at
FROM holdfast.record r
CROSS JOIN LATERAL (SELECT holdfast.body_of(r.value) AS lock OFFSET 0) b
WHERE r.key >= 'holdfast/locks/' AND r.key < 'holdfast/locks0' AND r.value IS NOT NULL
  AND (r.expires_at IS NULL OR r.expires_at > extract(epoch FROM clock_timestamp()) * 1000);
`;

const NAMES = ["job_failures", "job_idempotency_locks"] as const;

/**
 * The views once more, in a schema of the application. What is there already stays. Answers what people should
 * know: a schema that is closed to this user is no reason not to work.
 */
export async function showViewsIn(
  session: Session,
  schema: SchemaName,
  place: string,
): Promise<string[]> {
  const warnings: string[] = [];
  for (const name of NAMES) {
    const trouble = await showView(session, name, { schema, place });
    if (trouble !== null) warnings.push(trouble);
  }
  return warnings;
}

async function showView(
  session: Session,
  name: string,
  { schema, place }: { readonly schema: SchemaName; readonly place: string },
): Promise<string | null> {
  const mark = `a view of Holdfast, schema ${schema.name}`;
  const found = () => whatIs(session, `${place}.${name}`, mark);
  const isThere = await found();
  if (isThere === "ours") return null;
  const taken = `${place}.${name} is not Holdfast's and stays as it is: read "${schema.name}".${name} instead`;
  if (isThere === "theirs") return taken;
  try {
    await session.script(`BEGIN; CREATE VIEW "${place}".${name} AS SELECT * FROM holdfast.${name};
      COMMENT ON VIEW "${place}".${name} IS '${mark}'; COMMIT`);
    return null;
  } catch (error) {
    await session.script("ROLLBACK");
    // Another process made it in the same moment.
    if ((await found()) === "ours") return null;
    if ((await found()) === "theirs") return taken;
    const code = codeOf(error);
    if (code === "42501" || code === "3F000") {
      const what = code === "3F000" ? "is not there" : "is closed to this user";
      return `the schema ${place} ${what}, so ${name} is not shown in it: run CREATE VIEW "${place}".${name} AS SELECT * FROM "${schema.name}".${name} as a role that may`;
    }
    throw error;
  }
}

async function whatIs(
  session: Session,
  name: string,
  mark: string,
): Promise<"ours" | "theirs" | null> {
  const [place, relation] = name.split(".");
  const [row] = await session.script(`
    SELECT coalesce(obj_description(c.oid, 'pg_class'), '')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = '${place}' AND c.relname = '${relation}'`);
  if (row === undefined) return null;
  return text(row, 0) === mark ? "ours" : "theirs";
}
