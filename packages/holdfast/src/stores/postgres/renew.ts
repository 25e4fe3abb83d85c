/**
 * Renewing. A lease that ran out but was not reaped is still its holder's: the fence decides, not the
 * time.
 *
 * Renewals that carry nothing are one call inside the database, those with updates or a start a
 * transaction. A row that somebody has locked at the moment is asked again a little later, alone. One
 * that stays locked is being settled inside its holder's own transaction, and nobody can take it from
 * there: it is kept, without being extended, and that is noted beside it (`promises.ts`). Only what rides
 * along cannot be written then, and the answer says so: `busy`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Renewal, RenewResult } from "../../core/store.ts";
import { instantAfter, msOf, wholeMs } from "./clock.ts";
import type { Database } from "./database.ts";
import { seqsOf } from "./held-lease.ts";
import { promise } from "./promises.ts";
import type { Asker } from "./queue-book.ts";
import { number, numbers } from "./row-values.ts";
import { runsOf } from "./runs-of.ts";
import { HAS_PAST } from "./placement.ts";
import { isEmpty, takeAlong } from "./job-details.ts";

const RENEW = "SELECT * FROM holdfast.renew($1, $2, $3, $4, $5)";
/** Of two renewals of one attempt the later one counts, in whatever order they arrive. */
const TAKE_UPDATES = `
  UPDATE holdfast.leased l
  SET flags = l.flags | ${HAS_PAST}, updates_order = coalesce(u.n, l.updates_order)
  FROM unnest($1::bigint[], $2::bigint[]) AS u (seq, n)
  WHERE l.seq = u.seq AND (u.n IS NULL OR l.updates_order < u.n) RETURNING l.seq`;

/** Of leases that a renewal in the same transaction has locked under their fences. */
const START = "UPDATE holdfast.leased SET is_started = true WHERE seq = ANY ($1)";

/** How often a locked row is asked again, and how long after. */
const MOST_TRIES = 8;
const TRY_AGAIN_MS = 25;

interface Item {
  readonly renewal: Renewal;
  readonly seq: number;
  readonly index: number;
}

type Answer = RenewResult | "locked";

export async function renew(
  db: Database,
  renewals: readonly Renewal[],
  leaseMs: number,
): Promise<RenewResult[]> {
  const seqs = await seqsOf(db, renewals);
  const items = renewals.map((renewal, index) => ({ renewal, seq: seqs[index] ?? 0, index }));
  const results: Answer[] = renewals.map(() => "locked");
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const open = items.filter(({ index }) => results[index] === "locked");
    if (open.length === 0) break;
    if (tries > 1) await sleep(TRY_AGAIN_MS);
    const light = open.filter(isLight);
    const heavy = open.filter((item) => !isLight(item));
    const answers = [
      ...(await renewLight(db, light, leaseMs)),
      ...(await renewHeavy(db, heavy, leaseMs)),
    ];
    for (const { index, answer } of answers) results[index] = answer;
  }
  const locked = items.filter(({ index }) => results[index] === "locked");
  const until = instantAfter(msOf(db.options.clock.seen), leaseMs);
  await promise(
    db,
    locked.map(({ seq, renewal: { fence } }) => ({ seq, fence })),
    until,
  );
  return items.map(({ renewal, index }) => {
    const answer = results[index] ?? "lost";
    if (answer !== "locked") return answer;
    return isEmpty(renewal.updates) && renewal.starts !== true ? "kept" : "busy";
  });
}

/** A start must not be forgotten by a crash of the server, or the crash that follows is charged to nobody. */
function isLight(item: Item): boolean {
  return item.renewal.starts !== true && !hasUpdates(item);
}

/** A count is noted even if nothing is there to be written: what comes behind it is known as late. */
function hasUpdates({ renewal: { updates, order } }: Item): boolean {
  return updates !== undefined && !(isEmpty(updates) && order === undefined);
}

interface Answered {
  readonly index: number;
  readonly answer: Answer;
}

async function renewLight(
  db: Database,
  items: readonly Item[],
  leaseMs: number,
): Promise<Answered[]> {
  if (items.length === 0) return [];
  return renewIn(db, items, { db, leaseMs, isLight: true });
}

async function renewHeavy(
  db: Database,
  items: readonly Item[],
  leaseMs: number,
): Promise<Answered[]> {
  if (items.length === 0) return [];
  return db.transaction(async (tx) => {
    const answers = await renewIn(tx, items, { db, leaseMs, isLight: false });
    const byIndex = new Map(answers.map(({ index, answer }) => [index, answer]));
    const kept = items.filter(({ index }) => /kept|cancel/.test(byIndex.get(index) ?? ""));
    const starting = kept.filter(({ renewal }) => renewal.starts === true);
    if (starting.length > 0) await tx.rows(START, [starting.map(({ seq }) => seq)]);
    // Two renewals of one job are written one after the other.
    for (const run of runsOf(kept.filter(hasUpdates), ({ seq }) => seq)) {
      const rows = await tx.rows(TAKE_UPDATES, [
        run.map(({ seq }) => seq),
        run.map(({ renewal }) => renewal.order ?? null),
      ]);
      const news = new Set(rows.map((row) => number(row, 0)));
      const riding = run.filter(({ seq }) => news.has(seq));
      await takeAlong(
        tx,
        riding.map(({ seq, renewal }) => ({ seq, updates: renewal.updates ?? {} })),
      );
    }
    return answers;
  });
}

async function renewIn(
  asker: Asker,
  items: readonly Item[],
  how: { readonly db: Database; readonly leaseMs: number; readonly isLight: boolean },
): Promise<Answered[]> {
  const { clock } = how.db.options;
  const [row] = await asker.rows(RENEW, [
    ...[clock.seen, wholeMs(how.leaseMs), how.isLight],
    items.map(({ seq }) => seq),
    items.map(({ renewal }) => renewal.fence),
  ]);
  if (row === undefined) throw new Error("renew answered nothing");
  clock.saw(number(row, 0));
  const [kept, cancelled, locked] = [1, 2, 3].map((column) => new Set(numbers(row, column)));
  return items.map(({ index }, at): Answered => {
    const ord = at + 1;
    if (cancelled?.has(ord) === true) return { index, answer: "cancel" };
    if (kept?.has(ord) === true) return { index, answer: "kept" };
    return { index, answer: locked?.has(ord) === true ? "locked" : "lost" };
  });
}
