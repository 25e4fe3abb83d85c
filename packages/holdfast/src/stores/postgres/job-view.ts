/** Jobs as people and the engine see them. What they are put together from: `view-function.ts`. */
import type {
  AttemptRecord,
  ErrorCategory,
  JobSummary,
  LogLine,
  Step,
  StoredJob,
} from "../../core/job.ts";
import type { JobRef } from "../../core/store.ts";
import { isUuid } from "../../core/uuid.ts";
import type { Clock } from "./clock.ts";
import type { Row } from "./database.ts";
import type { Asker } from "./queue-book.ts";
import { lifetimeOf } from "./keys.ts";
import { text } from "./row-values.ts";
import { STATUSES } from "./placement.ts";
import type { ViewColumn } from "./view-function.ts";

const BY_IDS = "SELECT * FROM holdfast.view_jobs($1, NULL, $2, true)";
const BY_SEQS = "SELECT * FROM holdfast.view_jobs($1, $2, NULL, false)";
const BARE_BY_SEQS = "SELECT * FROM holdfast.view_bare_jobs($1)";

type Texts =
  | ("id" | "queue" | "group" | "type" | "payload" | "tags" | "meta" | "trace" | "dedupeKey")
  | ("result" | "worker" | "category" | "message" | "stack" | "fingerprint" | "reason" | "by")
  | ("note" | "checkpoint");
type Lists = "steps" | "logs" | "history";
type Flags = "resultDropped" | "cancelAsked";

type View = Readonly<
  Record<Texts, string | null> &
    Record<Flags, boolean> &
    Record<Exclude<ViewColumn, Texts | Lists | Flags>, number | null> & {
      steps: readonly Step[] | null;
      logs: readonly LogLine[] | null;
      history: readonly AttemptRecord[] | null;
    }
>;

export async function get(
  db: Asker,
  refs: readonly JobRef[],
  clock: Clock,
): Promise<(StoredJob | "pruned" | null)[]> {
  const ids = [...new Set(refs.map(({ id }) => id))].filter(isUuid);
  if (ids.length === 0) return refs.map(() => null);
  const views = (await db.rows(BY_IDS, [clock.seen, ids])).map(viewOf);
  const found = new Map<string | null, StoredJob | "pruned">();
  for (const view of views) found.set(view.id, isThere(view) ? storedJob(view) : "pruned");
  return refs.map(({ id }) => found.get(id) ?? null);
}

/** In the order of the numbers; one that is gone by now is left out. Bare: no payload, no result. */
export async function summaries(
  db: Asker,
  seqs: readonly number[],
  { clock, isBare }: { readonly clock: Clock; readonly isBare: boolean },
): Promise<JobSummary[]> {
  if (seqs.length === 0) return [];
  const rows = isBare ? db.rows(BARE_BY_SEQS, [seqs]) : db.rows(BY_SEQS, [clock.seen, seqs]);
  const views = (await rows).map(viewOf);
  const found = new Map(views.map((view) => [view.seq, summaryOf(view)]));
  return seqs.flatMap((seq) => found.get(seq) ?? []);
}

function viewOf(row: Row): View {
  return JSON.parse(text(row, 0)) as View;
}

/** Of one that is only remembered nothing but its id is told. */
function isThere({ seq }: View): boolean {
  return typeof seq === "number";
}

function storedJob(view: View): StoredJob {
  const { checkpoint, steps, logs, history, keyLife } = view;
  const keyLifetime = keyLife === null ? null : lifetimeOf(keyLife);
  const lists = { steps: steps ?? [], logs: logs ?? [], history: history ?? [] };
  return { ...summaryOf(view), keyLifetime, checkpoint, ...lists };
}

function summaryOf(view: View): JobSummary {
  const { meta, trace, dedupeKey, result, resultDropped, reason, by, worker, cancelAsked } = view;
  const { category, message, stack, fingerprint, percent, note, startedAt, finishedAt } = view;
  const { leasedAt, leaseUntil } = view;
  const createdAt = view.createdAt ?? 0;
  return {
    id: view.id ?? "",
    queue: view.queue ?? "",
    group: view.group ?? "",
    type: view.type ?? "",
    status: STATUSES[view.status ?? 0] ?? "queued",
    priority: view.priority ?? 0,
    payload: view.payload ?? "",
    ...{ result, resultDropped },
    attempts: view.attempts ?? 0,
    maxAttempts: view.maxAttempts ?? 0,
    crashes: view.crashes ?? 0,
    deferrals: view.deferrals ?? 0,
    fence: view.fence ?? 0,
    error:
      category === null
        ? null
        : { category: category as ErrorCategory, message: message ?? "", stack, fingerprint },
    ...{ reason, by },
    progress: percent === null ? null : { percent, message: note },
    tags: view.tags === null ? [] : (JSON.parse(view.tags) as string[]),
    ...{ meta, trace, dedupeKey, cancelAsked, createdAt },
    updatedAt: view.updatedAt ?? createdAt,
    runAt: view.runAt ?? createdAt,
    ...{ startedAt, finishedAt, worker, leasedAt, leaseUntil },
  };
}
