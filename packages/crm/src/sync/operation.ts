/** One thing that a sync does to the other side. A CRM is a set of these and a client. */
import type { RunningJob, StandardSchema } from "holdfast";

export interface OperationContext<Payload, Client> {
  readonly payload: Payload;
  readonly client: Client;
  readonly job: Pick<RunningJob, "id" | "attempt" | "createdAt" | "externalKey" | "log" | "step">;
  /** Ends with a cancel, a stop or a lost lease: give it to every call. */
  readonly signal: AbortSignal;
}

export interface OperationHandler<Payload, Client> {
  run(context: OperationContext<Payload, Client>): Promise<unknown>;
}

export interface SyncOperation<Payload, Client> {
  readonly payload: StandardSchema<Payload>;
  /**
   * Which record of the other side it concerns. Operations of one record run in the order in which they were
   * enqueued, one at a time.
   */
  record(payload: Payload): string;
  /** While a job of this key has not finished, another one is that job. Default: each is a job of its own. */
  key?(payload: Payload): string;
  /** Switched off unless it is enabled by name: its jobs are logged and skipped. */
  readonly isOff?: boolean;
  /** Loaded when the first job needs it. */
  load(): Promise<OperationHandler<Payload, Client>>;
}

export type Operations<Client> = Readonly<Record<string, SyncOperation<unknown, Client>>>;

export type PayloadOf<One> = One extends {
  readonly payload: StandardSchema<infer Input, infer _Output>;
}
  ? Input
  : never;
