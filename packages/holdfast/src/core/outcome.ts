import type { Failure } from "./job.ts";

/**
 * How an attempt ended. The engine decides, the store records:
 *
 * | kind    | job becomes | attempt | due again             |
 * |---------|-------------|---------|-----------------------|
 * | succeed | succeeded   | spent   | -                     |
 * | retry   | queued      | spent, unless `spend` is false (then `deferrals` + 1) | after `afterMs` |
 * | snooze  | queued      | given back | after `afterMs`    |
 * | release | queued      | given back | after `afterMs`    |
 * | cancel  | cancelled   | spent   | -                     |
 * | die     | dead        | spent, unless `ran` is false: then given back, and no attempt is recorded | - |
 *
 * Whatever the kind, a job whose cancellation was asked for ends `cancelled` unless it succeeded.
 */
export type Outcome =
  | { readonly kind: "succeed"; readonly result: string | null; readonly resultDropped: boolean }
  | {
      readonly kind: "retry";
      readonly afterMs: number;
      readonly spend: boolean;
      readonly failure: Failure;
    }
  | { readonly kind: "snooze"; readonly afterMs: number }
  | { readonly kind: "release"; readonly afterMs: number }
  | { readonly kind: "cancel"; readonly reason: string | null }
  | {
      readonly kind: "die";
      readonly reason: string;
      readonly failure: Failure;
      /** False: the engine ended it without starting its handler (crashed too often). */
      readonly ran: boolean;
    };

export type OutcomeKind = Outcome["kind"];
