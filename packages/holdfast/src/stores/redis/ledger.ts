/**
 * The ledger. On one server it is in one place. In a cluster the entries that come with a settle are
 * written beside its queue, in the same step, and those that are appended by themselves in a place of
 * their own; whoever reads looks into all of them.
 */
import { InvalidCursorError } from "../../core/errors.ts";
import type {
  Amendment,
  LedgerEntry,
  LedgerFilter,
  LedgerPage,
  StoredEntry,
} from "../../core/ledger.ts";
import { entryArgs, flag, optional, orEmpty } from "./args.ts";
import type { Looking } from "./job-view.ts";
import { bytes, list, number, numberOrNull, rows, text } from "./reply.ts";

/** What one step of a walk looks at: some ten milliseconds of the server's time. */
const LOOK_AT_MOST = 4_000;
/** A walk through the whole ledger goes on for so long in one call; through a kind or a job to its end. */
const WALK_MS = 50;

/** Where entries are. */
export async function rootsOf({ server, queues }: Looking): Promise<string[]> {
  const { home } = server.keys;
  if (!server.isCluster) return [home];
  return [home, ...(await queues.all()).map((queue) => server.keys.base(queue))];
}

export async function append(
  looking: Looking,
  entries: readonly LedgerEntry[],
): Promise<("added" | "duplicate")[]> {
  const { server } = looking;
  const there = await idsElsewhere(looking, entries);
  const own = entries.filter(({ id }) => !there.has(id));
  const reply = await server.onRoot("ledger-append", server.keys.home, own.flatMap(entryArgs));
  const added = list(reply).map(number);
  let next = 0;
  return entries.map(({ id }) => (!there.has(id) && added[next++] === 1 ? "added" : "duplicate"));
}

/** In a cluster: the entries that came with a settle. */
async function idsElsewhere(
  looking: Looking,
  entries: readonly LedgerEntry[],
): Promise<ReadonlySet<string>> {
  if (!looking.server.isCluster) return new Set();
  const ids = entries.map(({ id }) => id);
  const { home } = looking.server.keys;
  const found = new Set<string>();
  for (const root of (await rootsOf(looking)).filter((one) => one !== home)) {
    for (const { entry } of (
      await walk(looking, root, { filter: { ids }, after: null, limit: ids.length })
    ).found) {
      found.add(entry.id);
    }
  }
  return found;
}

/** The place of an entry in the reading order. */
interface Mark {
  readonly at: number;
  readonly seq: number;
}

interface Found extends Mark {
  readonly entry: StoredEntry;
}

interface Walk {
  readonly found: readonly Found[];
  readonly count: number;
  /** The last entry looked at; null: there is nothing beyond. */
  readonly reached: Mark | null;
}

/** Newest first: by time, and among entries of one instant the last appended first. */
export async function read(
  looking: Looking,
  filter: LedgerFilter,
  page: { readonly limit: number; readonly cursor?: string | null },
): Promise<LedgerPage> {
  const { limit, cursor = null } = page;
  let after = cursor === null ? null : markOf(cursor);
  if (limit <= 0 || filter.ids?.length === 0) return { entries: [], nextCursor: null };
  const until = performance.now() + WALK_MS;
  const isListed = filter.kind !== undefined || filter.jobId !== undefined;
  const roots = await rootsOf(looking);
  const entries: StoredEntry[] = [];
  for (;;) {
    const step = await readStep(looking, roots, { filter, after, limit: limit - entries.length });
    entries.push(...step.shown.map(({ entry }) => entry));
    after = step.next;
    const isLate = !isListed && performance.now() >= until;
    if (after === null || entries.length >= limit || isLate) break;
  }
  return { entries, nextCursor: after === null ? null : cursorOf(after) };
}

interface Asked {
  readonly filter: LedgerFilter;
  readonly after: Mark | null;
  readonly limit: number;
  readonly isCount?: boolean;
}

async function readStep(
  looking: Looking,
  roots: readonly string[],
  asked: Asked,
): Promise<{ readonly shown: readonly Found[]; readonly next: Mark | null }> {
  const walks = await Promise.all(roots.map((root) => walk(looking, root, asked)));
  const [end = null] = walks.flatMap(({ reached }) => reached ?? []).sort(newestFirst);
  const found = walks.flatMap((one) => one.found).sort(newestFirst);
  const within = end === null ? found : found.filter((one) => newestFirst(one, end) <= 0);
  const shown = within.slice(0, asked.limit);
  const last = shown.length === asked.limit ? (shown.at(-1) ?? null) : end;
  const isMore = end !== null || found.length > shown.length;
  return { shown, next: isMore ? last : null };
}

async function walk({ server }: Looking, root: string, asked: Asked): Promise<Walk> {
  const { filter, after, limit, isCount = false } = asked;
  const { ids = [], from, to, state, ...words } = filter;
  const pieces = Object.entries(words).flatMap(([name, value]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${JSON.stringify(value)}`],
  );
  const distinct = [...new Set(ids)];
  const reply = await server.onRoot("ledger-read", root, [
    ...[flag(isCount), listOf(filter), flag(after !== null), after?.at ?? 0, after?.seq ?? 0],
    ...[limit, LOOK_AT_MOST, orEmpty(from), orEmpty(to)],
    ...[distinct.length, ...distinct, ...optional(state), pieces.length, ...pieces],
  ]);
  const [at, seq, count, ...entries] = list(reply);
  const [reachedAt, reachedSeq] = [numberOrNull(at), numberOrNull(seq)];
  return {
    found: rows(entries, 2).map(([id, packed]) => storedEntry(text(id), bytes(packed))),
    count: number(count),
    reached: reachedAt === null || reachedSeq === null ? null : { at: reachedAt, seq: reachedSeq },
  };
}

/** Where all that may fit is listed (lua/ledger.lua). */
function listOf({ kind, jobId }: LedgerFilter): string {
  if (jobId !== undefined) return `ej:${jobId}`;
  return kind === undefined ? "ei" : `ek:${kind}`;
}

/** In steps; each root is counted for itself. */
export async function countEntries(
  looking: Looking,
  filter: LedgerFilter,
  upTo: number,
): Promise<number> {
  if (filter.ids?.length === 0) return 0;
  let counted = 0;
  for (const root of await rootsOf(looking)) {
    let after: Mark | null = null;
    do {
      if (counted >= upTo) return upTo;
      const asked = { filter, after, limit: upTo - counted, isCount: true };
      const step: Walk = await walk(looking, root, asked);
      counted += step.count;
      after = step.reached;
    } while (after !== null);
  }
  return counted;
}

export async function amend(
  looking: Looking,
  amendments: readonly Amendment[],
): Promise<("amended" | "missing")[]> {
  const args = amendments.flatMap(({ id, state, body }) => [
    ...[id, ...optional(state), ...optional(body)],
  ]);
  const done = amendments.map(() => false);
  for (const root of await rootsOf(looking)) {
    const reply = list(await looking.server.onRoot("ledger-amend", root, args));
    for (const [index, result] of reply.entries()) if (number(result) === 1) done[index] = true;
  }
  return done.map((isDone) => (isDone ? "amended" : "missing"));
}

/** As lua/ledger.lua packs it. */
function storedEntry(id: string, packed: Buffer): Found {
  const [at, amendedAt, seq] = [0, 8, 16].map((from) => packed.readDoubleLE(from));
  const texts: string[] = [];
  for (let from = 24; from < packed.length;) {
    const length = packed.readUInt32LE(from);
    texts.push(packed.toString("utf8", from + 4, from + 4 + length));
    from += 4 + length;
  }
  const [state = "", body = "", rest = "{}"] = texts;
  const known = JSON.parse(rest) as Partial<LedgerEntry>;
  const { kind = "", jobId = null, type = null, queue = null, group = null } = known;
  const time = at ?? 0;
  const amended = amendedAt === undefined || amendedAt < 0 ? null : amendedAt;
  const { category = null, fingerprint = null, company = null, isFinal = null } = known;
  return {
    at: time,
    seq: seq ?? 0,
    entry: {
      ...{ id, kind, jobId, type, queue, group, category, fingerprint, company, isFinal },
      ...{ state, body, at: time, amendedAt: amended },
    },
  };
}

function newestFirst(a: Mark, b: Mark): number {
  return a.at !== b.at ? b.at - a.at : b.seq - a.seq;
}

function cursorOf({ at, seq }: Mark): string {
  return `e:${at}:${seq}`;
}

function markOf(cursor: string): Mark {
  const [, at, seq] = /^e:(-?[0-9.e+]+):([0-9]+)$/.exec(cursor) ?? [];
  const mark = { at: Number(at), seq: Number(seq) };
  if (cursor === cursorOf(mark) && Number.isFinite(mark.at)) return mark;
  throw new InvalidCursorError("this cursor is not from a ledger page: start again without one");
}
