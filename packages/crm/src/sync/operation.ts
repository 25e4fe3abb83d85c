/** One thing that a sync does to the other side. A CRM is a set of these and a client. */
import type { RunningJob, StandardSchema } from "holdfast";

export interface OperationContext<Payload, Client> {
  readonly payload: Payload;
  readonly client: Client;
  readonly job: Pick<RunningJob, "id" | "attempt" | "createdAt" | "externalKey" | "log" | "step">;
  /** Values (see `writes`) that a newer job has written: this one leaves them out. Mostly empty. */
  readonly stale: ReadonlySet<string>;
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
  /**
   * The values of that record that it sets. A dead job that is retried after a newer one has set the same must not set
   * them back: such values are in `stale`, and a job whose values all are is skipped. Default: none, it always runs.
   */
  writes?(payload: Payload): readonly string[];
  /** It leaves something besides its values, a note or a link: it is never skipped. */
  readonly leavesMore?: boolean;
  /** While a job of this key has not finished, another one is that job. Default: each is a job of its own. */
  key?(payload: Payload): string;
  /** Switched off unless it is enabled by name: its jobs are logged and skipped. */
  readonly isOff?: boolean;
  /** Loaded when the first job needs it. */
  load(): Promise<OperationHandler<Payload, Client>>;
}

/** From payloads by the names of operations: so that handlers know what their schemas say. */
export type OperationsOf<Payloads, Client> = {
  readonly [Name in keyof Payloads]: SyncOperation<Payloads[Name], Client>;
};

export type Operations<Client> = Readonly<Record<string, SyncOperation<unknown, Client>>>;

export type PayloadOf<One> = One extends {
  readonly payload: StandardSchema<infer Input, infer _Output>;
}
  ? Input
  : never;

/** The client that the operations of a sync get. */
export type ClientOf<Ops> = Ops[keyof Ops] extends {
  load(): Promise<OperationHandler<infer _Payload, infer Client>>;
}
  ? Client
  : never;
