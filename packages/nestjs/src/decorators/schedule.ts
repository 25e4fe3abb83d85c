/**
 * `@Schedule("weekly-report", { cron: "0 9 * * 1" })` makes jobs at their times, once for the whole fleet. It stands on
 * a class or method with `@JobHandler`, whose jobs it makes; or on a method alone, which then handles the ticks.
 */
import type { JobItem, RuleOptions, ScheduleOptions } from "holdfast";
import { addNote } from "./notes.ts";

export type ScheduleDecoratorOptions = TickOptions & {
  /** Of each tick's job. Default `{}`. */
  readonly payload?: unknown;
  /** Another job than that of the handler below: `report.of({ … })`. Instead of `payload`. */
  readonly job?: JobItem | undefined;
};

/** When, and what becomes of ticks that overlap or are missed. */
export type TickOptions = RuleOptions & Pick<ScheduleOptions, "overlap" | "missed">;

export function Schedule(
  name: string,
  options: ScheduleDecoratorOptions,
): ClassDecorator & MethodDecorator {
  const { payload = {}, job = null, ...rule } = options;
  return (target: object, method?: string | symbol) => {
    addNote(target, method ?? null, { kind: "schedule", name, rule, payload, job });
  };
}
