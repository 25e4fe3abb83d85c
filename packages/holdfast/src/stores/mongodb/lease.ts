/**
 * Leasing. Shares between the asked queues (`core/shares.ts`), turns between the lines of a queue
 * (`core/turns.ts`), priority and age inside a line (the index `ready`). Held and full lines are passed by.
 *
 * A queue without caps is leased from by everybody at once: `claim.ts` decides who gets a job. Under
 * caps one call at a time has the queue's lock and counts what is leased.
 *
 * One queue without caps, as most are, is seen in one question (`snapshot.ts`), unless it has very many lines.
 * Everywhere else one looks step by step.
 */
import { Shares, type Demand } from "../../core/shares.ts";
import type { LeaseReply, LeaseRequest } from "../../core/store.ts";
import { interleave, planTurns, type Plan } from "../../core/turns.ts";
import {
  candidates,
  claim,
  documentsFor,
  longestOf,
  MANY_JOBS,
  unclaim,
  upTo,
  type Quota,
  type Reach,
} from "./claim.ts";
import { Contention } from "./contention.ts";
import type { Database } from "./database.ts";
import { clearFresh, MOST_FRESH_CHARACTERS } from "./fresh.ts";
import { withQueueLock, type QueueLock } from "./queue-lock.ts";
import { SharedCursors, type Span } from "./shared-cursor.ts";
import { takeSnapshot, type Snapshot } from "./snapshot.ts";
import type { LeaseCall } from "./lease-call.ts";
import { LineWalk, type GroupTurn, type ReadyLine, type Window } from "./line-walk.ts";
import { moveDue } from "./move-due.ts";
import { comeBackAt } from "./outlook.ts";
import { findQueues, hasCaps, heldUntil } from "./queue-book.ts";
import type { JobDocument, QueueDocument } from "./schema.ts";

/** How often a call that others got ahead of looks again. */
const MOST_COLLISIONS = 12;
/** Windows of lines looked through by one call for one that is open. */
const MOST_WINDOWS = 64;

/** From so many lines a few jobs each are taken one each at a time. */
const MANY_LINES = 16;
const FEW_JOBS = 4;

const FIRST_TURN: GroupTurn = { line: null, left: 0 };

type LinesPlan = Plan<ReadyLine, GroupTurn["line"]>;

interface QueueDemand extends Demand {
  readonly queue: QueueDocument;
}

interface Turns {
  readonly queue: QueueDocument;
  readonly atMost: number;
  readonly lock: QueueLock | null;
}

export class Leases {
  readonly #shares = new Shares();
  readonly #walk = new LineWalk();
  readonly #turns = new Map<string, GroupTurn>();
  readonly #contention = new Contention();
  readonly #cursors = new SharedCursors();
  /** How many jobs a document of a queue stood for, on average, when it was last leased from. */
  readonly #perDocument = new Map<string, number>();
  /** The group of the line that was a queue's only one; null: it had several. */
  readonly #onlyLine = new Map<string, string | null>();
  /** The queues with caps, or with more lines than one look takes in. */
  readonly #unplain = new Set<string>();
  /** The queue that comes first because the call before had no bytes left for it. */
  #nextQueue: string | null = null;

  async lease(db: Database, call: LeaseCall): Promise<LeaseReply> {
    const { request } = call;
    const names = request.queues.filter(({ limit }) => limit > 0).map(({ queue }) => queue);
    if (names.length === 0) return { jobs: [], nextInMs: null };
    const { limit } = request;
    const [snapshot, now] = await Promise.all([this.#snapshot(db, names, request), db.now()]);
    const queues = snapshot === null ? await findQueues(db, names) : toArray(snapshot.queue);
    const demands = demandsOf(request, queues);
    call.now = now;
    call.snapshot = snapshot;
    const open = demands.filter(({ queue }) => heldUntil(queue.holds, now) === null);
    if (snapshot === null || snapshot.dueAt <= now) {
      // Twice what the call may take keeps ahead of it.
      const moves = open.map(({ name, limit: most }) =>
        moveDue(db, name, { now, atMost: Math.max(200, 2 * most) }),
      );
      await Promise.all(moves);
      // A part of a line that is ours alone is not given up for those that are in it now.
      if (snapshot?.asked?.span === undefined) call.snapshot = null;
    }
    if (limit > 0) {
      await this.#takeShares(db, call, open);
      // Of many jobs it takes a while, and the first of them can begin.
      if (call.jobs.length < MANY_JOBS) await db.options.clearing.done();
      const isDone = call.isContent || call.isFull || call.jobs.length >= limit;
      if (isDone) return { jobs: call.jobs, nextInMs: 0 };
    }
    const nextAt = call.onlyDueAt ?? (await this.#comeBackAt(db, call, demands));
    return { jobs: call.jobs, nextInMs: nextAt === Infinity ? null : Math.max(0, nextAt - now) };
  }

  /** Where a bound in bytes ends a call, the next one begins behind: else the first queue had all bytes. */
  async #takeShares(db: Database, call: LeaseCall, open: readonly QueueDemand[]): Promise<void> {
    const start = Math.max(
      0,
      open.findIndex(({ name }) => name === this.#nextQueue),
    );
    const inTurn = [...open.slice(start), ...open.slice(0, start)];
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

  async #comeBackAt(
    db: Database,
    { now, request }: LeaseCall,
    demands: readonly QueueDemand[],
  ): Promise<number> {
    const wantsCapped = (request.cappedLimit ?? request.limit) > 0;
    const looks = demands.map(({ queue }) => comeBackAt(db, queue, { now, wantsCapped }));
    return Math.min(Infinity, ...(await Promise.all(looks)));
  }

  /** Of a plain queue that is asked for alone; null for all others. */
  async #snapshot(
    db: Database,
    names: readonly string[],
    { limit, queues, maxBytes }: LeaseRequest,
  ): Promise<Snapshot | null> {
    const [name] = names;
    if (name === undefined || names.length > 1 || this.#unplain.has(name)) return null;
    const jobs = Math.min(limit, ...queues.filter((one) => one.limit > 0).map((one) => one.limit));
    if (jobs <= 0) return null;
    const group = this.#onlyLine.get(name);
    if (group === null) return takeSnapshot(db, name, null, this.#walk.halvesOf(name));
    const { skip, perDocument } = this.#reach(name, [{ jobs }]);
    const documents = documentsFor(jobs, { perDocument });
    const line = { queue: name, group: group ?? "" };
    const asked = { group: line.group, jobs, longest: longestOf(jobs, maxBytes) };
    // Of a part that is ours alone nothing may be left behind for a bound in bytes.
    const isWhole = longestOf(jobs, maxBytes) > MOST_FRESH_CHARACTERS;
    const span = isWhole ? await this.#part(db, line, { jobs, perDocument }) : null;
    if (span === null) return takeSnapshot(db, name, { ...asked, documents, skip });
    const seen = await takeSnapshot(db, name, { ...asked, documents: jobs, skip: 0, span });
    this.#cursors.saw(name, span, seen.heads);
    return seen;
  }

  /** Under contention, whoever wants many jobs of a line gets a part of it to himself. */
  async #part(
    db: Database,
    line: { readonly queue: string; readonly group: string },
    wanted: { readonly jobs: number; readonly perDocument: number },
  ): Promise<Span | null> {
    const { queue } = line;
    if (wanted.jobs < MANY_JOBS || !this.#contention.isContended(queue)) return null;
    const span = this.#cursors.isAlone(queue)
      ? null
      : await this.#cursors.advance(db, line, { ...wanted, now: await db.now() });
    if (span === null) this.#contention.left(queue);
    return span;
  }

  /** How far a call looks into the lines for these quotas. */
  #reach(queue: string, quotas: readonly Pick<Quota, "jobs">[]): Reach {
    const perDocument = this.#perDocument.get(queue) ?? 1;
    const [only] = quotas;
    if (only === undefined || quotas.length > 1) return { perDocument, skip: 0 };
    const { jobs } = only;
    const documents = documentsFor(jobs, { perDocument });
    return { perDocument, skip: this.#contention.skip(queue, { jobs, documents }) };
  }

  /** For the next look: how many jobs come with a document. */
  #measure(queue: string, found: readonly JobDocument[]): void {
    const packs = new Set(found.map(({ _id, waits }) => waits?.pack ?? _id));
    this.#perDocument.set(queue, found.length / packs.size);
  }

  /** For the next snapshot. */
  #remember(queue: string, { lines }: Window): void {
    const [only] = lines;
    if (this.#walk.isLong(queue)) this.#unplain.add(queue);
    else this.#unplain.delete(queue);
    if (only !== undefined) this.#onlyLine.set(queue, lines.length > 1 ? null : only.group);
  }

  /** Hands out up to so many jobs of this queue, line by line; answers how many. */
  async #take(
    db: Database,
    call: LeaseCall,
    { queue, atMost }: { readonly queue: QueueDocument; readonly atMost: number },
  ): Promise<number> {
    if (!hasCaps(queue)) return this.#takeTurns(db, call, { queue, atMost, lock: null });
    this.#unplain.add(queue._id);
    const isAllCapped = queue.maxActive !== undefined || queue.maxActivePerGroup !== undefined;
    if (isAllCapped && call.cappedLeft <= 0) return 0;
    return withQueueLock(db, queue._id, (lock) =>
      this.#takeTurns(db, call, { queue, atMost, lock }),
    );
  }

  async #takeTurns(db: Database, call: LeaseCall, { queue, atMost, lock }: Turns): Promise<number> {
    const { now } = call;
    let taken = 0;
    let collisions = 0;
    let isBarren = false;
    /** How often the last line was passed since there was anything to take. */
    let rounds = 0;
    for (let windows = 0; taken < atMost && windows < MOST_WINDOWS; windows++) {
      const turn = this.#turns.get(queue._id) ?? FIRST_TURN;
      // Under the lock one looks again: what counts is what is so there.
      const seen = lock === null ? call.snapshot : null;
      call.snapshot = null;
      const look = { now, turn, jobs: atMost - taken, isBarren, heads: seen?.heads };
      const window = await this.#walk.look(db, queue, look);
      if (lock === null) this.#remember(queue._id, window);
      const ring = ringOf(window, turn);
      const isOneTurn = !window.isAll && !isBarren;
      const most = atATime(Math.min(atMost - taken, window.room), ring.length, isOneTurn);
      const { cappedLeft: ofCapped } = call;
      const planFor = (jobs: number): LinesPlan =>
        planTurns(ring, { jobs, ofCapped }, { current: turn, keyOf: ({ group }) => group });
      const plan = planFor(most);
      isBarren = plan.quotas.length === 0;
      if (isBarren) {
        if (seen !== null && window.lines.length === 0) call.onlyDueAt = seen.dueAt;
        if (window.range.until === null) rounds++;
        if (window.room <= 0 || rounds > 1 || !this.#goOn(queue, window)) break;
        continue;
      }
      rounds = 0;
      const found = seenBy(seen, plan) ?? (await this.#candidates(db, call, { queue, plan }));
      if (found.length === 0) {
        this.#contention.left(queue._id);
        if (++collisions > MOST_COLLISIONS) break;
        continue;
      }
      this.#measure(queue._id, found);
      const fitting = call.fitting(found);
      call.isFull = fitting.length === 0;
      if (call.isFull || !call.beginClaim(queue._id)) break;
      const { worker, leaseMs } = call.request;
      const onTaken = (some: readonly JobDocument[]): void =>
        db.options.clearing.begin(clearFresh(db, some), window.range);
      const isContended = this.#contention.isContended(queue._id);
      const how = { queue: queue._id, worker, leaseMs, now, isContended, onTaken };
      const { jobs, failure } = await claim(db, fitting, how);
      const isOurs = lock === null || (await lock.isOurs());
      if (isOurs) call.take(jobs);
      else await unclaim(db, jobs);
      if (failure !== null) throw failure.error;
      call.endClaim();
      if (!isOurs) break;
      const isCut = fitting.length < found.length;
      const carried = isCut ? planFor(fitting.length) : plan;
      this.#turns.set(queue._id, turnAfter(carried, ring, window));
      taken += jobs.length;
      call.cappedLeft -= cappedAmong(jobs, ring);
      call.isFull = isCut && jobs.length > 0;
      if (call.isFull) break;
      if (jobs.length === fitting.length) {
        if (seen?.asked?.span === undefined) this.#contention.alone(queue._id);
        if (isAllOf(seen, window, found)) {
          call.onlyDueAt = seen.dueAt;
          break;
        }
      } else {
        this.#contention.met(queue._id);
        if (++collisions > MOST_COLLISIONS) break;
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
    { queue, plan }: { readonly queue: QueueDocument; readonly plan: LinesPlan },
  ): Promise<readonly JobDocument[]> {
    const { quotas } = plan;
    const reach = { ...this.#reach(queue._id, quotas), bytes };
    return interleave(await candidates(db, queue._id, { quotas, reach }));
  }

  /** On to the next window; after the last one, once more through all lines. */
  #goOn(queue: QueueDocument, { isAll, range }: Window): boolean {
    if (isAll) return false;
    this.#turns.set(queue._id, { line: range.until, left: 0 });
    return true;
  }
}

function demandsOf(request: LeaseRequest, queues: readonly QueueDocument[]): QueueDemand[] {
  return request.queues.flatMap(({ queue: name, limit, weight = 1 }) => {
    const queue = queues.find(({ _id }) => _id === name);
    return queue === undefined || limit <= 0 ? [] : [{ name, queue, limit, weight }];
  });
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
function turnAfter({ turn }: LinesPlan, ring: readonly ReadyLine[], { isAll }: Window): GroupTurn {
  const [only] = ring;
  return isAll || only === undefined || ring.length > 1 ? turn : { line: only.group, left: 0 };
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
