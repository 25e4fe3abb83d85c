/**
 * Parts of the library that an older one beside this command line may not have. They are described by their
 * shape, and a command whose part is missing says so instead of failing with a stack.
 */
import type { Holdfast } from "holdfast";
import { CliError, ExitCode } from "../exit-code.ts";

interface Why {
  readonly by?: string;
  readonly reason?: string;
}

interface Page {
  readonly limit?: number;
  readonly cursor?: string;
}

export interface Lock {
  readonly id: string;
  readonly key: string;
  readonly scope: string;
  readonly owner: string;
  readonly state: string;
  readonly jobId: string;
  readonly type: string;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
}

export interface Run {
  readonly tick: Date;
  readonly state: string;
  readonly job: string | null;
  readonly outcome: string | null;
  readonly error: string | null;
  readonly ranMs: number | null;
}

export interface Schedule {
  readonly name: string;
  readonly cron: string | null;
  readonly timeZone: string | null;
  readonly everyMs: number | null;
  readonly job: { readonly type: string; readonly queue: string };
  readonly enabled: boolean;
  readonly paused: { readonly by: string | null; readonly reason: string | null } | null;
  readonly next: readonly Date[];
  readonly lastRun: Run | null;
}

export interface Gate {
  readonly name: string;
  readonly targets: readonly { readonly queue: string; readonly group?: string | null }[];
  readonly per: string | null;
  readonly forced: string;
  readonly state: string;
  readonly tokens: number | null;
  readonly failures: number;
  readonly openUntil: Date | null;
  readonly cooldownUntil: Date | null;
}

export interface Durations {
  readonly avg: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface Stats {
  readonly source: string;
  readonly finished: {
    readonly succeeded: number;
    readonly dead: number;
    readonly cancelled: number;
  };
  readonly retried: number;
  readonly failedLastHour: number;
  readonly topFailing: readonly {
    readonly type: string;
    readonly failed: number;
    readonly dead: number;
  }[];
  readonly waitMs: Durations;
  readonly runMs: Durations;
  readonly oldestReadyMs: number | null;
  readonly series: readonly {
    readonly at: Date;
    readonly succeeded: number;
    readonly dead: number;
  }[];
}

export interface Features {
  readonly locks: {
    list(
      query: Page & { readonly key?: string; readonly owner?: string; readonly state?: string },
    ): Promise<{ readonly locks: readonly Lock[]; readonly nextCursor: string | null }>;
    release(id: string, why: Why): Promise<void>;
  };
  readonly schedules: {
    list(): Promise<readonly Schedule[]>;
    runs(
      name: string,
      query: Page,
    ): Promise<{ readonly runs: readonly Run[]; readonly nextCursor: string | null }>;
    runNow(name: string, why: Why): Promise<{ readonly id: string }>;
    pause(name: string, why: Why): Promise<void>;
    resume(name: string, why: Why): Promise<void>;
  };
  readonly gates: {
    list(): Promise<readonly Gate[]>;
    force(name: string, state: string, why: Why): Promise<void>;
  };
  readonly stats: (query: {
    readonly queue?: string;
    readonly type?: string;
    readonly lastMs?: number;
  }) => Promise<Stats>;
  readonly why: (id: string) => Promise<{
    readonly summary: string;
    readonly reasons: readonly {
      readonly kind: string;
      readonly message: string;
      readonly remedy: string;
    }[];
  }>;
}

export type FeatureName = keyof Features;

export function featureOf<Name extends FeatureName>(hf: Holdfast, name: Name): Features[Name] {
  const found = (hf as unknown as Partial<Features>)[name];
  if (found === undefined) {
    throw new CliError(
      ExitCode.failed,
      `the holdfast that is installed here has no ${name}: upgrade it (npm install holdfast@latest)`,
    );
  }
  if (typeof found !== "function") return found;
  return (found as (...args: never[]) => unknown).bind(hf) as unknown as Features[Name];
}
