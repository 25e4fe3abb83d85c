/**
 * Leasing: the shares of the asked queues are planned here (`core/shares.ts`), everything else happens
 * in one call inside the database (`lease-function.ts`). Whose turn it is in each queue is kept by this
 * process: each being fair makes all of them fair together, and nobody waits for a row that says so.
 */
import type { Step } from "../../core/job.ts";
import { Shares, type Demand } from "../../core/shares.ts";
import type { LeasedJob, LeaseReply, LeaseRequest } from "../../core/store.ts";
import { FOREVER, msOf, wholeMs, type Clock } from "./clock.ts";
import type { Row } from "./database.ts";
import { handleOf } from "./held-lease.ts";
import { WORN } from "./lease-one-line.ts";
import type { Asker, QueueBook } from "./queue-book.ts";
import { number, numberOrNull, text, textOrNull } from "./row-values.ts";

const LEASE = `
  SELECT * FROM holdfast.lease($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
    $15)`;

/** How long a hint is followed before the line is looked at from its head again. */
const HINT_MS = 2_000;

const NOTHING: LeaseReply = { jobs: [], nextInMs: null };

/** Whose turn it is in the ring of lines of a queue, and how much of it is left. */
interface Turn {
  readonly group: string | null;
  readonly left: number;
  /** Where a search began that has not come around yet. */
  readonly began: string | null;
}

const NO_TURN: Turn = { group: null, left: 0, began: null };

/** Up to where this process has leased in a line whose head is hard to find. */
interface Hint {
  readonly group: string;
  readonly prio: number;
  readonly seq: number;
  readonly until: number;
}

interface QueueDemand extends Demand {
  /** The number of the queue. */
  readonly q: number;
}

/** What a process remembers between its leases. */
export class Leases {
  readonly #shares = new Shares();
  readonly #turns = new Map<number, Turn>();
  readonly #hints = new Map<number, Hint>();

  async lease(
    db: Asker,
    request: LeaseRequest,
    { queues, clock }: { readonly queues: QueueBook; readonly clock: Clock },
  ): Promise<LeaseReply> {
    const demands = await demandsOf(request, queues);
    if (demands.length === 0) return NOTHING;
    const limit = Math.max(0, request.limit);
    const shares = this.#shares.split(demands, limit);
    const turns = demands.map(({ q }) => this.#turns.get(q) ?? NO_TURN);
    const hints = demands.map(({ q }) => this.#hintOf(q));
    const rows = await db.rows(LEASE, [
      ...[clock.seen, request.worker, wholeMs(request.leaseMs), limit],
      Math.max(0, request.cappedLimit ?? limit),
      demands.map(({ q }) => q),
      shares.map((share, index) => Math.min(share, demands[index]?.limit ?? 0)),
      demands.map((demand) => Math.min(demand.limit, limit)),
      turns.map(({ group }) => group),
      turns.map(({ left }) => left),
      turns.map(({ began }) => began),
      hints.map((hint) => hint?.group ?? null),
      hints.map((hint) => hint?.prio ?? null),
      hints.map((hint) => hint?.seq ?? null),
      boundOf(request),
    ]);
    // The last row is about the call itself.
    const end = rows.pop();
    if (end === undefined) throw new Error("lease answered nothing");
    const micros = number(end, 10);
    clock.saw(micros);
    const told = textOrNull(end, 17);
    const jobs = inTurns(rows, { demands, micros });
    const got =
      told === null || told === WORN
        ? this.#learnLine(demands, rows, told)
        : this.#learnTurns(demands, JSON.parse(told) as End);
    for (const [index, demand] of demands.entries()) {
      const share = Math.min(shares[index] ?? 0, demand.limit);
      if ((got[index] ?? 0) < share) this.#shares.unfilled(demand);
    }
    return { jobs, nextInMs: inMs(numberOrNull(end, 12), msOf(micros)) };
  }

  /** All were of one line: whose turn it is stays as it was. Answers how many of each queue. */
  #learnLine(demands: readonly QueueDemand[], rows: readonly Row[], told: string | null): number[] {
    const q = demands[0]?.q ?? 0;
    const { began, ...turn } = this.#turns.get(q) ?? NO_TURN;
    if (began !== null) this.#turns.set(q, { ...turn, began: null });
    const last = told === null ? undefined : rows.toSorted(byPlace).at(-1);
    if (last === undefined) this.#hints.delete(q);
    else this.#follow(q, { group: text(last, 2), prio: number(last, 3), seq: number(last, 0) });
    return [rows.length];
  }

  #learnTurns(demands: readonly QueueDemand[], told: End): readonly number[] {
    const { got, turn, left, began } = told;
    for (const [index, { q }] of demands.entries()) {
      this.#learnHint(q, { told, index });
      this.#turns.set(q, {
        group: turn[index] ?? null,
        left: left[index] ?? 0,
        began: began[index] ?? null,
      });
    }
    return got;
  }

  #hintOf(q: number): Hint | undefined {
    const hint = this.#hints.get(q);
    if (hint === undefined || hint.until > performance.now()) return hint;
    this.#hints.delete(q);
    return undefined;
  }

  /** A hint that is moved on by a lease keeps its end. */
  #learnHint(q: number, { told, index }: { readonly told: End; readonly index: number }): void {
    const group = told.hintGroup[index] ?? null;
    const [prio, seq] = [told.hintPrio[index] ?? null, told.hintSeq[index] ?? null];
    if (group === null || prio === null || seq === null) {
      this.#hints.delete(q);
      return;
    }
    this.#follow(q, { group, prio, seq });
  }

  #follow(q: number, place: Omit<Hint, "until">): void {
    const until = this.#hints.get(q)?.until ?? performance.now() + HINT_MS;
    this.#hints.set(q, { ...place, until });
  }
}

interface End {
  readonly hintGroup: readonly (string | null)[];
  readonly hintPrio: readonly (number | null)[];
  readonly hintSeq: readonly (number | null)[];
  readonly got: readonly number[];
  readonly turn: readonly (string | null)[];
  readonly left: readonly (number | null)[];
  readonly began: readonly (string | null)[];
}

/** As they are asked for: where there is less than all want, the first come first. */
async function demandsOf(request: LeaseRequest, queues: QueueBook): Promise<QueueDemand[]> {
  const wanted = request.queues.filter(({ limit }) => limit > 0);
  const numbers = await queues.findAll(wanted.map(({ queue }) => queue));
  const demands = new Map<number, QueueDemand>();
  for (const { queue: name, limit, weight = 1 } of wanted) {
    const q = numbers.get(name);
    if (q !== undefined) demands.set(q, { q, name, limit, weight });
  }
  return [...demands.values()];
}

/** Null: none. */
function boundOf({ maxBytes = Infinity }: LeaseRequest): number | null {
  return Number.isFinite(maxBytes) ? Math.max(0, Math.floor(maxBytes)) : null;
}

function inMs(nextAt: number | null, now: number): number | null {
  return nextAt === null || nextAt >= FOREVER ? null : Math.max(0, nextAt - now);
}

interface Call {
  readonly demands: readonly QueueDemand[];
  readonly micros: number;
}

/** Each line in its order, and the lines of a queue in turns. */
function inTurns(rows: readonly Row[], { demands, micros }: Call): LeasedJob[] {
  const jobs: LeasedJob[] = [];
  for (const { q, name } of demands) {
    const lines = new Map<string, Row[]>();
    for (const row of rows) {
      // Of a single queue it is not said.
      if ((numberOrNull(row, 1) ?? q) !== q) continue;
      const group = text(row, 2);
      const line = lines.get(group);
      if (line === undefined) lines.set(group, [row]);
      else line.push(row);
    }
    const packs = [...lines.values()].map((line) => line.sort(byPlace));
    const longest = Math.max(0, ...packs.map((pack) => pack.length));
    for (let round = 0; round < longest; round++) {
      for (const pack of packs) {
        const row = pack[round];
        if (row !== undefined) jobs.push(leasedJob(row, { queue: name, micros }));
      }
    }
  }
  return jobs;
}

function byPlace(a: Row, b: Row): number {
  return number(a, 3) - number(b, 3) || number(a, 0) - number(b, 0);
}

interface Past {
  readonly deferrals: number | null;
  readonly checkpoint: string | null;
  readonly steps: readonly Step[] | null;
}

/** What is left out is as nearly always: the first attempt, which the job has, and no crash. */
function leasedJob(
  row: Row,
  { queue, micros }: { readonly queue: string; readonly micros: number },
): LeasedJob {
  const id = text(row, 4);
  const pastText = textOrNull(row, 16);
  const past = pastText === null ? null : (JSON.parse(pastText) as Past);
  const tags = textOrNull(row, 13);
  const createdAt = number(row, 12);
  return {
    id,
    queue,
    handle: handleOf(number(row, 0), id),
    fence: numberOrNull(row, 10) ?? micros,
    group: text(row, 2),
    type: text(row, 5),
    payload: text(row, 17),
    priority: number(row, 3),
    attempt: numberOrNull(row, 6) ?? 1,
    maxAttempts: number(row, 7),
    exhausted: row[8] === "0",
    crashes: numberOrNull(row, 9) ?? 0,
    deferrals: past?.deferrals ?? 0,
    checkpoint: past?.checkpoint ?? null,
    steps: past?.steps ?? [],
    tags: tags === null ? [] : (JSON.parse(tags) as string[]),
    meta: textOrNull(row, 14),
    trace: textOrNull(row, 15),
    createdAt,
    runAt: numberOrNull(row, 11) ?? createdAt,
  };
}
