/**
 * Leasing. Shares between the asked queues (`core/shares.ts`), turns between the lines of a queue
 * (`core/turns.ts`), priority and age inside a line (the index `ready`). Held and full lines are passed by.
 *
 * A queue without caps is leased from by everybody at once: `claim.ts` decides who gets a job. Under
 * caps one call at a time has the queue's lock and counts what is leased.
 *
 * One queue without caps, as most are, is seen in one question (`snapshot.ts`). Of several one question says which
 * have anything (`survey.ts`), and at those one looks step by step.
 */
import { Shares } from "../../core/shares.ts";
import type { LeaseReply, LeaseRequest } from "../../core/store.ts";
import { interleave, planTurns, type Plan } from "../../core/turns.ts";
import { candidates, claim, documentsFor, longestOf, MANY_JOBS, unclaim, upTo } from "./claim.ts";
import { Crowd } from "./crowd.ts";
import type { Database } from "./database.ts";
import type { LeaseCall } from "./lease-call.ts";
import { LineBook } from "./line-book.ts";
import { firstJobs, LineWalk, type GroupTurn, type Range } from "./line-walk.ts";
import { moveDue, nextDueAt } from "./move-due.ts";
import { Refused } from "./packs/claim-fresh.ts";
import { clearFresh } from "./packs/fresh.ts";
import { hasCaps, heldUntil } from "./queue-book.ts";
import { withQueueLock, type QueueLock } from "./queue-lock.ts";
import { readyLines, type ReadyLine, type ReadyLines } from "./ready-lines.ts";
import type { JobDocument, QueueDocument } from "./schema.ts";
import { takeSnapshot, type Snapshot } from "./snapshot.ts";
import { demandsOf, takeSurvey, type QueueDemand } from "./survey.ts";

/** How often a call that others got ahead of looks again. */
const MOST_COLLISIONS = 12;
/** Windows of lines looked through by one call for one that is open. */
const MOST_WINDOWS = 64;

/** From so many lines a few jobs each are taken one each at a time. */
const MANY_LINES = 16;
const FEW_JOBS = 4;

const FIRST_TURN: GroupTurn = { line: null, left: 0 };

type LinesPlan = Plan<ReadyLine, GroupTurn["line"]>;

/** Queues that are not held. */
interface Offered {
  readonly open: readonly QueueDemand[];
  /** Has it no ready job? */
  readonly isBare: (demand: QueueDemand) => boolean;
}

interface Turns {
  readonly queue: QueueDocument;
  readonly atMost: number;
  readonly lock: QueueLock | null;
}

/** Some lines of a queue, or all. */
type Window = ReadyLines & Range;

export class Leases {
  readonly #shares = new Shares();
  readonly #walk = new LineWalk();
  readonly #book = new LineBook();
  readonly #crowd = new Crowd();
  readonly #refused = new Refused();
  readonly #turns = new Map<string, GroupTurn>();
  /** How many jobs a document of a queue stood for, on average, when it was last leased from. */
  readonly #perDocument = new Map<string, number>();
  /** The group of the line that was a queue's only one; null: it had several. */
  readonly #onlyLine = new Map<string, string | null>();
  /** The queues with caps. */
  readonly #capped = new Set<string>();
  /** The queue that comes first because the call before had no bytes left for it. */
  #nextQueue: string | null = null;

  async lease(db: Database, call: LeaseCall): Promise<LeaseReply> {
    const { request } = call;
    const names = request.queues.filter(({ limit }) => limit > 0).map(({ queue }) => queue);
    if (names.length === 0) return { jobs: [], nextInMs: null };
    const { limit } = request;
    const now = await db.now();
    const snapshot = await this.#snapshot(db, names, { request, now });
    const survey = snapshot === null ? await takeSurvey(db, names) : null;
    const demands = demandsOf(request, survey?.queues ?? toArray(snapshot?.queue));
    call.now = now;
    call.snapshot = snapshot;
    const open = demands.filter(({ queue }) => heldUntil(queue.holds, now) === null);
    const dueAtOf = ({ name }: QueueDemand): number =>
      snapshot?.dueAt ?? survey?.dueAt.get(name) ?? Infinity;
    // Twice what the call may take keeps ahead of it.
    const moves = open
      .filter((demand) => dueAtOf(demand) <= now)
      .map(async ({ name, limit: most }) => {
        const moved = await moveDue(db, name, { now, atMost: Math.max(200, 2 * most) });
        if (moved === 0) return;
        call.snapshot = null;
        survey?.ready.add(name);
      });
    await Promise.all(moves);
    const isBare = ({ name }: QueueDemand): boolean => survey?.ready.has(name) === false;
    if (limit > 0) {
      await this.#takeShares(db, call, { open, isBare });
      // Of many jobs it takes a while, and the first of them can begin.
      if (call.jobs.length < MANY_JOBS) await db.options.clearing.done();
      const isDone = call.isContent || call.isFull || call.jobs.length >= limit;
      if (isDone) return { jobs: call.jobs, nextInMs: 0 };
    }
    const look = async (demand: QueueDemand): Promise<number> =>
      isBare(demand)
        ? (heldUntil(demand.queue.holds, now) ?? dueAtOf(demand))
        : this.#comeBackAt(db, call, demand.queue);
    const nextAt = call.onlyDueAt ?? Math.min(Infinity, ...(await Promise.all(demands.map(look))));
    return { jobs: call.jobs, nextInMs: nextAt === Infinity ? null : Math.max(0, nextAt - now) };
  }

  /** Where a bound in bytes ends a call, the next one begins behind: else the first queue had all bytes. */
  async #takeShares(db: Database, call: LeaseCall, { open, isBare }: Offered): Promise<void> {
    const start = Math.max(
      0,
      open.findIndex(({ name }) => name === this.#nextQueue),
    );
    const inTurn = [...open.slice(start), ...open.slice(0, start)].filter((one) => !isBare(one));
    for (const bare of open.filter(isBare)) this.#shares.unfilled(bare);
    const rounds = this.#shares.rounds(inTurn, call.request.limit);
    for (let ask = rounds.next(); ask.done !== true;) {
      const { demand, atMost } = ask.value;
      const taken = await this.#take(db, call, { queue: demand.queue, atMost });
      if (call.isFull) {
        const at = inTurn.indexOf(demand) + (taken > 0 ? 1 : 0);
        this.#nextQueue = inTurn[at % inTurn.length]?.name ?? null;
        return;
      }
      ask = rounds.next(taken);
    }
  }

  /**
   * When this queue may have something for the caller: now (or before) if a line is open, else when a job
   * falls due or a hold ends, else Infinity. What is only full is not worth coming back for (the settle
   * that makes room sends a wakeup), and neither are capped lines to a caller that wants nothing from them.
   */
  async #comeBackAt(db: Database, call: LeaseCall, queue: QueueDocument): Promise<number> {
    const { now, request } = call;
    const queueHeldUntil = heldUntil(queue.holds, now);
    if (queueHeldUntil !== null) return queueHeldUntil;
    const wantsCapped = (request.cappedLimit ?? request.limit) > 0;
    const isOpen = ({ isCapped, room, heldUntil: held }: ReadyLine): boolean =>
      (wantsCapped || !isCapped) && room > 0 && held === null;
    // Of many lines it is known whether the call has gone through all of them, or left some.
    const isLong = this.#walk.isLong(queue._id);
    const isDry = isLong ? call.dry.get(queue._id) : undefined;
    if (isDry === false && wantsCapped) return now;
    const dueAt = await nextDueAt(db, queue._id);
    const { lines, room } =
      isDry === true ? { lines: [], room: 1 } : await this.#look(db, queue, { now, jobs: 1 });
    // What is due already waits like everything else in a full queue.
    if (room <= 0) return dueAt > now ? dueAt : nextDueAt(db, queue._id, now);
    if (lines.some(isOpen)) return now;
    const ends = lines.flatMap((line) =>
      wantsCapped || !line.isCapped ? (line.heldUntil ?? []) : [],
    );
    const settings = this.#book.lastSeen(queue._id);
    const opensAt = isLong ? this.#walk.opensAt(queue._id, now, settings) : Infinity;
    return Math.min(dueAt, opensAt, ...ends);
  }

  /** Of a plain queue that is asked for alone; null for all others. */
  async #snapshot(
    db: Database,
    names: readonly string[],
    { request, now }: { readonly request: LeaseRequest; readonly now: number },
  ): Promise<Snapshot | null> {
    const { limit, queues, maxBytes } = request;
    const [name] = names;
    if (name === undefined || names.length > 1 || this.#capped.has(name)) return null;
    const jobs = Math.min(limit, ...queues.filter((one) => one.limit > 0).map((one) => one.limit));
    if (jobs <= 0) return null;
    const group = this.#onlyLine.get(name) ?? (this.#onlyLine.has(name) ? null : "");
    const documents = documentsFor(jobs, this.#perDocumentOf(name));
    const leaves = this.#crowd.leaves(name, documents);
    const longest = longestOf(jobs, maxBytes);
    const asked = group === null ? null : { group, documents, leaves, longest };
    return takeSnapshot(db, name, {
      range: this.#next(name, { now, jobs }),
      asked: asked === null ? null : { ...asked, jobs },
    });
  }

  #perDocumentOf(queue: string): number {
    return this.#perDocument.get(queue) ?? 1;
  }

  /** The lines of the next window. */
  #next(queue: string, want: { now: number; jobs: number }): Range {
    const turn = this.#turns.get(queue) ?? FIRST_TURN;
    return this.#walk.next(queue, { ...want, turn, settings: this.#book.lastSeen(queue) });
  }

  /** The next lines, or those of a snapshot, as they are. */
  async #look(
    db: Database,
    queue: QueueDocument,
    { now, jobs, seen = null }: { now: number; jobs: number; seen?: Snapshot | null },
  ): Promise<Window> {
    const settings = await this.#book.of(db, queue);
    const begin = performance.now();
    const range = seen === null ? this.#next(queue._id, { now, jobs }) : seen.range;
    const first = seen === null ? await firstJobs(db, queue._id, range.groups) : seen.lines;
    const tookMs = seen?.tookMs ?? performance.now() - begin;
    const found = await readyLines(db, queue, { now, first, settings });
    const names = found.lines.map(({ group }) => group);
    this.#walk.saw(queue._id, range.groups, { groups: names, tookMs });
    const [only] = names;
    if (only !== undefined) this.#onlyLine.set(queue._id, names.length > 1 ? null : only);
    return { ...found, ...range };
  }

  /** Hands out up to so many jobs of this queue, line by line; answers how many. */
  async #take(
    db: Database,
    call: LeaseCall,
    { queue, atMost }: { readonly queue: QueueDocument; readonly atMost: number },
  ): Promise<number> {
    if (!hasCaps(queue)) {
      this.#capped.delete(queue._id);
      return this.#takeTurns(db, call, { queue, atMost, lock: null });
    }
    this.#capped.add(queue._id);
    const isAllCapped = queue.maxActive !== undefined || queue.maxActivePerGroup !== undefined;
    // The lines of a window are as many as the jobs that may be taken, not as those that are wanted.
    const most = isAllCapped ? Math.min(atMost, call.cappedLeft) : atMost;
    if (most <= 0) return 0;
    return withQueueLock(db, queue._id, (lock) =>
      heldUntil(lock.queue.holds, call.now) === null
        ? this.#takeTurns(db, call, { queue: lock.queue, atMost: most, lock })
        : Promise.resolve(0),
    );
  }

  async #takeTurns(db: Database, call: LeaseCall, { queue, atMost, lock }: Turns): Promise<number> {
    const { now } = call;
    let taken = 0;
    let collisions = 0;
    /** The first line of the windows since there was anything to take. */
    let barrenFrom: string | null = null;
    for (let windows = 0; taken < atMost && windows < MOST_WINDOWS; windows++) {
      // Under the lock one looks again: what counts is what is so there.
      const seen = lock === null ? call.snapshot : null;
      call.snapshot = null;
      const isBarren = barrenFrom !== null;
      const turn = this.#turns.get(queue._id) ?? FIRST_TURN;
      const jobs = isBarren ? Infinity : atMost - taken;
      const window = await this.#look(db, queue, { now, jobs, seen });
      const ring = ringOf(window, turn);
      const isOneTurn = !window.isAll && !isBarren;
      const most = atATime(Math.min(atMost - taken, window.room), ring.length, isOneTurn);
      const { cappedLeft: ofCapped } = call;
      const planFor = (count: number): LinesPlan =>
        planTurns(ring, { jobs: count, ofCapped }, { current: turn, keyOf: ({ group }) => group });
      const plan = planFor(most);
      if (plan.quotas.length === 0) {
        if (seen !== null && window.groups === null && window.lines.length === 0) {
          call.onlyDueAt = seen.dueAt;
        }
        if (window.room <= 0) call.dry.delete(queue._id);
        if (window.room <= 0 || ofCapped <= 0 || window.groups === null) break;
        const first: string | null = window.groups[0] ?? null;
        const isRound: boolean =
          window.isAll || (barrenFrom !== null && window.groups.includes(barrenFrom));
        if (isRound && !this.#walk.isStale(queue._id)) {
          call.dry.set(queue._id, true);
          break;
        }
        barrenFrom = isRound ? null : (barrenFrom ?? first);
        this.#turns.set(queue._id, { line: window.groups.at(-1) ?? null, left: 0 });
        continue;
      }
      barrenFrom = null;
      call.dry.set(queue._id, false);
      const found = seenBy(seen, plan) ?? (await this.#candidates(db, call, { queue, plan, lock }));
      if (found.length === 0) {
        this.#crowd.isOver(queue._id);
        if (++collisions > MOST_COLLISIONS) break;
        continue;
      }
      this.#measure(queue._id, found);
      const fitting = call.fitting(found);
      call.isFull = fitting.length === 0;
      if (call.isFull || !call.beginClaim(queue._id)) break;
      const { worker, leaseMs } = call.request;
      const onTaken = (some: readonly JobDocument[]): void =>
        db.options.clearing.begin(clearFresh(db, some));
      const refused = this.#refused;
      const isAlone = lock !== null || this.#crowd.isAlone(queue._id);
      const how = { queue: queue._id, worker, leaseMs, now, refused, isAlone, onTaken };
      const { jobs: own, failure } = await claim(db, fitting, how);
      const got = { tried: fitting.length, got: own.length };
      if (lock === null) this.#crowd.claimed(queue._id, got);
      const isOurs = lock === null || (await lock.isOurs());
      if (isOurs) call.take(own);
      else await unclaim(db, own);
      if (failure !== null) throw failure.error;
      call.endClaim();
      if (!isOurs) break;
      const isCut = fitting.length < found.length;
      const carried = isCut ? planFor(fitting.length) : plan;
      this.#turns.set(queue._id, turnAfter(carried, ring, window));
      taken += own.length;
      call.cappedLeft -= cappedAmong(own, ring);
      call.isFull = isCut && own.length > 0;
      if (call.isFull) break;
      if (own.length < fitting.length && ++collisions > MOST_COLLISIONS) break;
      if (own.length === fitting.length && isAllOf(seen, window, found)) {
        call.onlyDueAt = seen.dueAt;
        break;
      }
      // To look again costs as much for a few as for many: whoever has got most of many is content.
      call.isContent = atMost >= MANY_JOBS && taken < atMost && taken >= atMost / 2;
      if (call.isContent) break;
    }
    return taken;
  }

  async #candidates(
    db: Database,
    { bytesLeft: bytes }: LeaseCall,
    { queue, plan, lock }: Pick<Turns, "queue" | "lock"> & { readonly plan: LinesPlan },
  ): Promise<readonly JobDocument[]> {
    const perDocument = this.#perDocumentOf(queue._id);
    const jobs = plan.quotas[0]?.jobs ?? 0;
    // Under the lock nobody else reads them.
    const leaves =
      lock === null ? this.#crowd.leaves(queue._id, documentsFor(jobs, perDocument)) : 0;
    const reach = { perDocument, bytes, leaves };
    return interleave(await candidates(db, queue._id, { quotas: plan.quotas, reach }));
  }

  /** For the next look: how many jobs come with a document. */
  #measure(queue: string, found: readonly JobDocument[]): void {
    const packs = new Set(found.map(({ _id, waits }) => waits?.pack ?? _id));
    this.#perDocument.set(queue, found.length / packs.size);
  }
}

/** The jobs of this plan, if they are in a snapshot already. */
function seenBy(seen: Snapshot | null, { quotas }: LinesPlan): readonly JobDocument[] | null {
  const [only] = quotas;
  if (seen?.asked == null || only === undefined || quotas.length > 1) return null;
  const { asked, first } = seen;
  if (only.line.group !== asked.group || only.jobs > asked.jobs) return null;
  return upTo(only.jobs, first);
}

/** Does a snapshot say that there are no others than these? */
function isAllOf(
  seen: Snapshot | null,
  { lines }: Window,
  found: readonly JobDocument[],
): seen is Snapshot {
  return seen?.isWhole === true && lines.length === 1 && found.length === seen.first.length;
}

/**
 * The first jobs of the lines are known, and what is behind them is a question for each line. The lines
 * of one window have one turn before those of the next, unless there are none.
 */
function atATime(jobs: number, lines: number, isOneTurn: boolean): number {
  const isFewOfMany = lines > MANY_LINES && jobs <= FEW_JOBS * lines;
  return isFewOfMany || isOneTurn ? Math.min(jobs, lines) : jobs;
}

/** Of a window's only open line the turn has ended: there are other windows. */
function turnAfter({ turn }: LinesPlan, ring: readonly ReadyLine[], window: Window): GroupTurn {
  const [only] = ring;
  return window.isAll || only === undefined || ring.length > 1
    ? turn
    : { line: only.group, left: 0 };
}

function toArray<T>(one: T | undefined): T[] {
  return one === undefined ? [] : [one];
}

/** The open lines, beginning with the one whose turn it is. */
function ringOf({ lines }: Window, { line: group, left }: GroupTurn): ReadyLine[] {
  const open = lines.filter((line) => line.heldUntil === null && line.room > 0);
  if (group === null) return open;
  const isNext = (line: ReadyLine): boolean =>
    left > 0 ? line.group >= group : line.group > group;
  const start = open.findIndex(isNext);
  return start === -1 ? open : [...open.slice(start), ...open.slice(0, start)];
}

function cappedAmong(jobs: readonly JobDocument[], ring: readonly ReadyLine[]): number {
  const capped = new Set(ring.filter(({ isCapped }) => isCapped).map(({ group }) => group));
  return jobs.filter(({ group }) => capped.has(group)).length;
}
