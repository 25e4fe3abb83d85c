/** Enqueues the six types, and says what came of it in words that a caller over HTTP understands. */
import { Injectable } from "@nestjs/common";
import { InjectHoldfast } from "@holdfast/nestjs";
import { Holdfast, type Receipt, type ReceiptStatus } from "holdfast";
import {
  batchRecalc,
  generateAIInsights,
  generateMonthlySnapshots,
  healthPing,
  sendNotifications,
  updateReports,
} from "./cfo-jobs.ts";

export interface Enqueued {
  readonly jobId: string;
  /** `ran`: the store was away, and the job ran in this request (QUEUE_RESILIENT_MODE). */
  readonly status: ReceiptStatus;
  /** How it ended, if it ran. */
  readonly outcome?: { readonly status: string; readonly result: unknown };
}

interface OfPeriod {
  readonly companyId: string;
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly dataHash: string;
}

@Injectable()
export class CfoQueue {
  constructor(@InjectHoldfast() private readonly hf: Holdfast) {}

  async snapshots(payload: {
    readonly companyId: string;
    readonly amendedMonth?: string | undefined;
    readonly dataHash: string;
  }): Promise<Enqueued> {
    return enqueued(await this.hf.enqueue(generateMonthlySnapshots, payload));
  }

  async report(payload: OfPeriod): Promise<Enqueued> {
    return enqueued(await this.hf.enqueue(updateReports, payload));
  }

  async recalc(payload: OfPeriod): Promise<Enqueued> {
    return enqueued(await this.hf.enqueue(batchRecalc, payload));
  }

  async insights(payload: { companyId: string; dataHash: string }): Promise<Enqueued> {
    return enqueued(await this.hf.enqueue(generateAIInsights, payload));
  }

  async notify(payload: {
    readonly companyId?: string | null | undefined;
    readonly subject: string;
    readonly body: string;
  }): Promise<Enqueued> {
    const { companyId = null, ...rest } = payload;
    return enqueued(await this.hf.enqueue(sendNotifications, { companyId, ...rest }));
  }

  async ping(): Promise<Enqueued> {
    return enqueued(await this.hf.enqueue(healthPing, { sentAt: new Date().toISOString() }));
  }
}

function enqueued(receipt: Receipt<unknown, ReceiptStatus>): Enqueued {
  const { id, status, outcome } = receipt;
  if (!outcome) return { jobId: id, status };
  const result = outcome.status === "succeeded" ? outcome.result : null;
  return { jobId: id, status, outcome: { status: outcome.status, result } };
}
