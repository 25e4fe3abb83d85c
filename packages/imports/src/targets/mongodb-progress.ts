/** How far an import has come, beside its rows: two small collections in the same database. */
import { ImportOvertakenError } from "../errors.ts";
import {
  isDuplicateKey,
  type CollectionLike,
  type DbLike,
  type Document,
} from "./mongodb-driver.ts";
import {
  KEEP_FINISHED_DAYS,
  KEEP_UNFINISHED_DAYS,
  type Batch,
  type BatchAnswer,
  type Beginning,
  type Ending,
  type ImportState,
  type RowError,
} from "./target.ts";

const DAY_MS = 86_400_000;

interface Plan {
  readonly after: number;
  readonly upTo: number;
  /** Keys. */
  readonly fresh: readonly string[];
}

export class MongodbProgress {
  readonly #db: DbLike;
  readonly #imports: CollectionLike;
  readonly #errors: CollectionLike;

  constructor(db: DbLike) {
    this.#db = db;
    this.#imports = db.collection("holdfast_import");
    this.#errors = db.collection("holdfast_import_error");
  }

  /** `session`: what this attempt writes with, so that the next one can end it; null without transactions. */
  async begin(
    { job, fence, type, file }: Beginning,
    session: unknown = null,
  ): Promise<ImportState> {
    await this.#forgetOld();
    await this.#endBefore(job, fence);
    const start = {
      ...{ type, file, upTo: 0, totalRows: 0, inserted: 0, updated: 0, failed: 0 },
      ...{ startedAt: new Date(), finishedAt: null, notes: null },
    };
    let found: unknown;
    try {
      found = await this.#imports.findOneAndUpdate(
        { _id: job, fence: { $lte: fence } },
        { $set: { fence, session }, $setOnInsert: start },
        { upsert: true, returnDocument: "after", includeResultMetadata: false },
      );
    } catch (error) {
      // There is one, with a higher fence: the upsert could not make another.
      if (isDuplicateKey(error)) throw overtaken();
      throw error;
    }
    const { finishedAt, ...state } = found as Document;
    return {
      ...{ file: String(state.file), upTo: Number(state.upTo), totalRows: Number(state.totalRows) },
      ...{ inserted: Number(state.inserted), updated: Number(state.updated) },
      ...{ failed: Number(state.failed), isFinished: finishedAt !== null },
      notes: typeof state.notes === "string" ? state.notes : null,
    };
  }

  async advance(batch: Batch, answer: BatchAnswer, options: Document = {}): Promise<void> {
    const { job, fence, after, upTo, totalRows, keep } = batch;
    const { inserted, updated, failures } = answer;
    const kept = failures.slice(0, keep);
    // Before the count: without a transaction a kill between the two leaves it to be written again.
    if (kept.length > 0) {
      const operations = kept.map(({ row, reason }) => ({
        replaceOne: {
          filter: { _id: `${job}/${row}` },
          replacement: { job, row, reason },
          upsert: true,
        },
      }));
      await this.#errors.bulkWrite(operations as never[], options);
    }
    const { matchedCount } = await this.#imports.updateOne(
      { _id: job, fence, upTo: after, finishedAt: null },
      {
        $set: { upTo },
        $inc: { totalRows, inserted, updated, failed: failures.length },
        $unset: { plan: "" },
      },
      options,
    );
    if (matchedCount === 0) throw overtaken();
  }

  /**
   * The keys of the batch that will be inserted. If an attempt before planned the same batch, its plan counts:
   * what it has inserted already is there now, and is still an insert.
   */
  async plan(
    { job, fence, after, upTo }: Batch,
    fresh: readonly string[],
  ): Promise<readonly string[]> {
    const [stored] = await this.#imports.find({ _id: job, fence, upTo: after }).toArray();
    if (!stored) throw overtaken();
    const before = stored.plan as Plan | undefined;
    if (before?.after === after && before.upTo === upTo) return before.fresh;
    const plan: Plan = { after, upTo, fresh };
    const own = { _id: job, fence, upTo: after };
    const { matchedCount } = await this.#imports.updateOne(own, { $set: { plan } });
    if (matchedCount === 0) throw overtaken();
    return fresh;
  }

  async finish({ job, fence, after, notes }: Ending): Promise<void> {
    const own = { _id: job, fence, upTo: after };
    const { matchedCount } = await this.#imports.updateOne(own, {
      $set: { finishedAt: new Date(), notes },
    });
    if (matchedCount === 0) throw overtaken();
  }

  /** The next attempt must not end the session of this one any more: others will have it. */
  async disown(job: string, fence: number): Promise<void> {
    await this.#imports.updateOne({ _id: job, fence }, { $set: { session: null } });
  }

  async failures(job: string, limit: number): Promise<readonly RowError[]> {
    const found = await this.#errors.find(ofJob(job), { sort: { _id: 1 } }).toArray();
    return found
      .map(({ row, reason }) => ({ row: Number(row), reason: String(reason) }))
      .toSorted((one, other) => one.row - other.row)
      .slice(0, limit);
  }

  /**
   * The server keeps the transaction of a killed process for a minute, with locks on its rows and on this import's
   * document. A lower fence is overtaken whatever it does, so its session is ended at once. If the server does not
   * let us, the minute passes.
   */
  async #endBefore(job: string, fence: number): Promise<void> {
    const [before] = await this.#imports.find({ _id: job, fence: { $lt: fence } }).toArray();
    const session = before?.session ?? null;
    if (session === null || before?.finishedAt !== null) return;
    await this.#db.command({ killSessions: [session] }).catch(() => {});
  }

  async #forgetOld(): Promise<void> {
    const before = (days: number) => ({ $lt: new Date(Date.now() - days * DAY_MS) });
    const old = await this.#imports
      .find({
        $or: [
          { finishedAt: before(KEEP_FINISHED_DAYS) },
          { startedAt: before(KEEP_UNFINISHED_DAYS) },
        ],
      })
      .limit(100)
      .toArray();
    for (const { _id } of old) {
      await this.#errors.deleteMany(ofJob(String(_id)));
      await this.#imports.deleteMany({ _id });
    }
  }
}

/** By the order of ids: "0" comes right after "/". */
function ofJob(job: string): Document {
  return { _id: { $gte: `${job}/`, $lt: `${job}0` } };
}

function overtaken(): ImportOvertakenError {
  return new ImportOvertakenError("a newer attempt goes on with this import");
}
