/**
 * A change of the business, and what the CRM is to hear of it. Where jobs and data share a database that has
 * transactions, both commit together. Elsewhere the jobs are stored once the change is: if the process dies in
 * between, the CRM is behind until the next change of that member, or until `resync`.
 */
import { Inject, Injectable, Logger } from "@nestjs/common";
import { InjectHoldfast } from "@holdfast/nestjs";
import type { HubSpotPayloads } from "@holdfast/crm";
import { Holdfast, HoldfastError, type ReceiptStatus } from "holdfast";
import { SETTINGS, type Settings } from "../config/settings.ts";
import { Data, type Transaction } from "../data/data.ts";
import { CRM, type Crm } from "./crm.ts";
import { sharesDatabase } from "./shares-database.ts";

export type CrmChange = {
  readonly [Name in keyof HubSpotPayloads]: {
    readonly operation: Name;
    readonly payload: HubSpotPayloads[Name];
    readonly priority?: number;
    /** A job of the same key that waits may bring something older: then this one is a job of its own. */
    readonly isState?: boolean;
  };
}[keyof HubSpotPayloads];

export interface CrmJob {
  readonly operation: string;
  /** Null: it was not stored. */
  readonly jobId: string | null;
  readonly status: ReceiptStatus | "missed";
}

export interface Changed<Result> {
  readonly result: Result;
  readonly jobs: readonly CrmJob[];
}

@Injectable()
export class CrmChanges {
  readonly #logger = new Logger("Crm");
  #together: boolean | null = null;

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(Data) private readonly data: Data,
    @InjectHoldfast() private readonly hf: Holdfast,
    @Inject(CRM) private readonly crm: Crm,
  ) {}

  /** Whether a change and its jobs commit together. */
  async areTogether(): Promise<boolean> {
    if (!sharesDatabase(this.settings) || !this.data.hasTransactions) return false;
    this.#together ??= (await this.hf.info()).transactions;
    return this.#together;
  }

  /** `work` may run again where the database asks for it. */
  async change<Result>(
    work: (
      tx: Transaction,
    ) => Promise<{ readonly result: Result; readonly changes: readonly CrmChange[] }>,
  ): Promise<Changed<Result>> {
    if (await this.areTogether()) {
      return this.data.transaction(async (tx) => {
        const { result, changes } = await work(tx);
        return { result, jobs: await this.#within(tx.handle, changes) };
      });
    }
    const { result, changes } = await this.data.transaction(work);
    return { result, jobs: await this.tellLate(changes) };
  }

  /** Of a change that is made, whatever becomes of its jobs: that is no failure of the request. */
  async tellLate(changes: readonly CrmChange[]): Promise<readonly CrmJob[]> {
    const jobs: CrmJob[] = [];
    for (const change of changes) {
      jobs.push(await this.#tell(change).catch((error: unknown) => this.#missed(change, error)));
    }
    return jobs;
  }

  /** Without a change: one after the other, as they come. */
  async tell(changes: readonly CrmChange[]): Promise<readonly CrmJob[]> {
    const jobs: CrmJob[] = [];
    for (const change of changes) jobs.push(await this.#tell(change));
    return jobs;
  }

  async #tell({ operation, payload, isState = false, ...options }: CrmChange): Promise<CrmJob> {
    const enqueue = (again: boolean) =>
      this.crm.enqueue(operation, payload as never, { ...options, again });
    let receipt = await enqueue(false);
    if (isState && receipt.status === "duplicate") receipt = await enqueue(true);
    return { operation, jobId: receipt.id, status: receipt.status };
  }

  #missed({ operation }: CrmChange, error: unknown): CrmJob {
    if (!(error instanceof HoldfastError)) throw error;
    const how = "POST /api/crm/resync brings it";
    this.#logger.warn(`the CRM did not hear of a ${operation}; ${how}: ${error.message}`);
    return { operation, jobId: null, status: "missed" };
  }

  async #within(handle: unknown, changes: readonly CrmChange[]): Promise<readonly CrmJob[]> {
    const within = this.hf.within(handle);
    const jobs: CrmJob[] = [];
    for (const { operation, payload, isState = false, ...options } of changes) {
      const enqueue = async (again: boolean) => {
        const item = this.crm.item(operation, payload as never, { ...options, again });
        const [answer] = await within.enqueueAll([item]);
        // Taken back as a whole: a change that the CRM cannot hear of is none.
        if (!answer || "error" in answer) throw answer?.error ?? new Error("no job was stored");
        return answer;
      };
      let receipt = await enqueue(false);
      if (isState && receipt.status === "duplicate") receipt = await enqueue(true);
      jobs.push({ operation, jobId: receipt.id, status: receipt.status });
    }
    return jobs;
  }
}
