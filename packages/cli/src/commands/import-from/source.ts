/** Another job system, as far as its jobs can be taken over. It is read, and never written to. */
import { CliError, ExitCode } from "../../exit-code.ts";

export const SYSTEMS = ["bullmq", "pg-boss", "agenda", "graphile-worker"] as const;
export type System = (typeof SYSTEMS)[number];

/** A job of another system, in our words. */
export interface ForeignJob {
  /** Unique in its system: from it comes the id here, so that a second import finds the first. */
  readonly key: string;
  readonly type: string;
  /** What the other system calls its queue; null where it has none. */
  readonly queue: string | null;
  /** Jobs that it runs one after another. */
  readonly group: string | null;
  readonly payload: unknown;
  readonly status: "queued" | "dead";
  /** Lower first, 100 in the middle. */
  readonly priority: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly createdAt: number;
  readonly runAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly error: { readonly message: string; readonly stack: string | null } | null;
}

export interface ForeignSchedule {
  readonly name: string;
  readonly type: string;
  readonly queue: string | null;
  readonly payload: unknown;
  readonly cron: string | null;
  readonly timeZone: string | null;
  readonly everyMs: number | null;
  /** Of an interval: how long until its next tick. */
  readonly startAfterMs: number | null;
  readonly isPaused: boolean;
}

/** What cannot be taken over, counted by why. */
export interface Left {
  readonly what: string;
  readonly count: number;
}

export interface Source {
  /** Jobs that one of its workers runs now. */
  running(): Promise<number>;
  /** Waiting, delayed and failed ones, in pages. */
  jobs(): AsyncGenerator<readonly ForeignJob[]>;
  schedules(): Promise<readonly ForeignSchedule[]>;
  left(): Promise<readonly Left[]>;
  close(): Promise<void>;
}

export interface SourceOptions {
  readonly url: string;
  /** The prefix, schema or collection; undefined: as the other system has it by itself. */
  readonly at: string | undefined;
}

export const PAGE = 200;

/** The driver is the user's own, as for the stores. */
export async function driver<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    const isMissing = (error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing) throw error;
    throw new CliError(
      ExitCode.usage,
      `import-from needs the package ${name}: npm install ${name}`,
    );
  }
}

/** A name that goes into SQL as it is. */
export function sqlName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(name)) return `"${name}"`;
  throw new CliError(ExitCode.usage, `--at is the name of a schema, not ${JSON.stringify(name)}`);
}

export function clamp(priority: number): number {
  return Math.min(8191, Math.max(0, Math.round(priority)));
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
