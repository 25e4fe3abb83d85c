/** Simulations, by their shape: they are a package of its own, and may not be installed. */
import type { Holdfast, WhyOptions } from "holdfast";
import { CliError, ExitCode } from "../exit-code.ts";

export interface SimulationLike {
  readonly id: string;
  readonly status: string;
  readonly start: Date;
  readonly end: Date;
  readonly records: number;
  readonly segments: number;
  readonly policy: string;
  readonly queue: string;
}

export interface SegmentLike {
  readonly number: number;
  readonly start: number;
  readonly count: number;
  readonly status: string;
  readonly counters: Readonly<Record<string, number>> | null;
}

export interface PacingLike {
  create(options: Readonly<Record<string, unknown>>, why: WhyOptions): Promise<SimulationLike>;
  start(id: string, why: WhyOptions): Promise<SimulationLike>;
  pause(id: string, why: WhyOptions): Promise<SimulationLike>;
  resume(id: string, why: WhyOptions): Promise<SimulationLike>;
  abort(id: string, why: WhyOptions): Promise<SimulationLike>;
  get(id: string): Promise<SimulationLike | null>;
  list(query: { readonly limit?: number }): Promise<{
    readonly simulations: readonly SimulationLike[];
  }>;
  metrics(id: string): Promise<{
    readonly records_total: number;
    readonly records_processed: number;
    readonly counters: Readonly<Record<string, number>>;
    readonly segments: { readonly total: number; readonly complete: number };
    readonly budgets: Readonly<
      Record<string, { readonly limit: number | null; readonly spent: number }>
    >;
  }>;
  curve(
    id: string,
    parts: number,
  ): Promise<{ readonly planned: readonly number[]; readonly actual: readonly number[] }>;
  segments(
    id: string,
    query: { readonly from?: number; readonly limit?: number },
  ): Promise<{ readonly segments: readonly SegmentLike[]; readonly next: number | null }>;
}

const PACING = "@holdfast/pacing";

/** Plans and looks; it has no handlers of records. */
export async function loadPacing(hf: Holdfast): Promise<PacingLike> {
  try {
    const { Pacing } = (await import(PACING)) as {
      readonly Pacing: new (of: Holdfast) => PacingLike;
    };
    return new Pacing(hf);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CliError(ExitCode.failed, `this needs the package ${PACING}: npm install ${PACING}`);
  }
}
