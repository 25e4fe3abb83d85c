/**
 * What a transaction knows of the database: the numbers all share, and the queues and lines it has
 * read. Nobody else can write while it is open, so these copies are the truth, and they are written
 * back once, however many jobs moved.
 *
 * After the commit they stay true until another connection commits. `Memory` asks SQLite whether that
 * has happened (`PRAGMA data_version`, a microsecond) and if not gives them to the next transaction.
 * With a thousand groups that saves a search for every job that is inserted or leased.
 */
import { msOf, type Anchor, type Mark } from "./clock.ts";
import type { Connection } from "./connection.ts";
import { LineBook } from "./line-book.ts";
import { QueueBook } from "./queue-book.ts";
import { WorkerBook } from "./worker-book.ts";

const HEAD = `
  SELECT seq, clock, record_version, anchor_mark, anchor_wall FROM holdfast_head WHERE one = 1`;
const MARK = "SELECT clock, anchor_mark, anchor_wall FROM holdfast_head WHERE one = 1";
const WRITE_HEAD = "UPDATE holdfast_head SET seq = ?, clock = ?, record_version = ? WHERE one = 1";
/** Seldom: only when a host's clock that was ahead is put right. */
const WRITE_ANCHOR = "UPDATE holdfast_head SET anchor_mark = ?, anchor_wall = ? WHERE one = 1";
const NEWEST_GONE = "SELECT max(id) FROM holdfast_gone";
const DATA_VERSION = "PRAGMA data_version";

/** More lines than this are not worth their memory. */
const REMEMBER_LINES = 20_000;

/** What the database remembers of the clock, for those who only look. */
export function readMark(db: Connection): Mark {
  const row = db.rows<[number, number | null, number | null]>(MARK).get();
  if (row === undefined) throw new Error("holdfast_head has lost its row");
  return { clock: row[0], anchor: anchorOf(row[1], row[2]) };
}

function anchorOf(mark: number | null, wall: number | null): Anchor | null {
  return mark === null || wall === null ? null : { mark, wall };
}

export class Known {
  readonly queues: QueueBook;
  readonly lines: LineBook;
  readonly workers: WorkerBook;
  /** The highest instant any writer has used, in microseconds. */
  clock: number;
  /** See `clock.ts`. */
  anchor: Anchor | null;
  /** The last version given to any record. */
  recordVersion: number;
  readonly #db: Connection;
  #newestGone: string | null | undefined;
  #seq: number;

  constructor(db: Connection) {
    type Head = [number, number, number, number | null, number | null];
    const head = db.rows<Head>(HEAD).get();
    if (head === undefined) throw new Error("holdfast_head has lost its row");
    this.#db = db;
    [this.#seq, this.clock, this.recordVersion] = head;
    this.anchor = anchorOf(head[3], head[4]);
    this.queues = new QueueBook(db);
    this.workers = new WorkerBook(db);
    this.lines = new LineBook(db, this.queues, () => this.nextSeq());
  }

  /** The highest id of a deleted job, or a higher one; null if there is none. */
  get newestGone(): string | null {
    if (this.#newestGone === undefined) {
      this.#newestGone = this.#db.value(NEWEST_GONE) as string | null;
    }
    return this.#newestGone;
  }

  set newestGone(id: string) {
    this.#newestGone = id;
  }

  /** Grows by 1 and is never given twice, also not after the job of a number is deleted. */
  nextSeq(): number {
    return ++this.#seq;
  }

  /** Gives a number back that was not used after all. Only the last one. */
  returnSeq(): void {
    this.#seq--;
  }

  flush({ clock, anchor }: Mark): void {
    this.clock = clock;
    if (anchor !== this.anchor) {
      this.anchor = anchor;
      this.#db.run(WRITE_ANCHOR, anchor?.mark ?? null, anchor?.wall ?? null);
    }
    this.lines.flush();
    this.queues.flush(msOf(clock));
    this.#db.write(WRITE_HEAD).run(this.#seq, clock, this.recordVersion);
  }
}

/** Keeps what is known from one transaction of a connection to its next. */
export class Memory {
  readonly #db: Connection;
  #known: Known | undefined;
  #dataVersion: unknown;

  constructor(db: Connection) {
    this.#db = db;
  }

  /** Inside a transaction that has just begun. Undefined: read everything anew. */
  recall(): Known | undefined {
    // A caller writes on its own connection too, and SQLite does not count those as another's.
    if (this.#db.isBorrowed) return undefined;
    const version = this.#db.value(DATA_VERSION);
    if (version !== this.#dataVersion) this.#known = undefined;
    this.#dataVersion = version;
    return this.#known;
  }

  /** After the commit. */
  remember(known: Known): void {
    this.#known = known.lines.size > REMEMBER_LINES ? undefined : known;
  }

  /** After a rollback: the copies were changed and the database was not. */
  forget(): void {
    this.#known = undefined;
  }
}
