/** The first line of the overview: a sentence about health, from the worst that is found. */
import type { Overview, Stats } from "../api/types.ts";
import { cappedCount, count, percent, plural } from "./numbers.ts";
import { clockTime, duration } from "./times.ts";

export interface Sentence {
  readonly tone: "ok" | "warn" | "bad";
  /** One clause. */
  readonly head: string;
  /** What is known of it, and what still runs. */
  readonly rest: string;
  readonly link: { readonly href: string; readonly text: string } | null;
}

export interface HealthFacts {
  readonly overview: Overview;
  readonly stats: Stats | null;
  readonly isStoreAway: boolean;
  /** What is known is not of now. */
  readonly isUnreachable?: boolean;
  readonly now: number;
}

const LATE_MS = 5 * 60_000;
const FAILING_SHARE = 0.05;
const FEW = 20;

/** Worst first: the first rule that has something to say says it. */
const RULES: readonly ((facts: HealthFacts) => Sentence | null)[] = [
  unreachable,
  storeAway,
  noWorkers,
  openGate,
  deadNow,
  failing,
  late,
  paused,
  quietWorkers,
];

export function healthSentence(facts: HealthFacts): Sentence {
  for (const rule of RULES) {
    const said = rule(facts);
    if (said) return said;
  }
  const { processing } = facts.overview.totals;
  const { count: workers } = facts.overview.workers;
  return {
    ...{ tone: "ok", head: "All is well.", link: null },
    rest: `${plural(workers, "worker")}, ${plural(processing, "job")} running, nothing waits longer than it should.`,
  };
}

function unreachable({ isUnreachable, overview, now }: HealthFacts): Sentence | null {
  if (isUnreachable !== true) return null;
  const old = duration(now - Date.parse(overview.at));
  return {
    ...{ tone: "bad", head: "The server does not answer.", link: null },
    rest: `These numbers are ${old} old. Workers do not need it: they go on.`,
  };
}

function storeAway({ isStoreAway, overview, now }: HealthFacts): Sentence | null {
  if (!isStoreAway) return null;
  const old = duration(now - Date.parse(overview.at));
  return {
    ...{ tone: "bad", head: "The store is away." },
    rest: `These numbers are ${old} old. Workers wait for it, and lose nothing that was acknowledged.`,
    link: { href: "#/doctor", text: "Ask the doctor" },
  };
}

function noWorkers({ overview }: HealthFacts): Sentence | null {
  const { ready } = overview.totals;
  if (overview.workers.count > 0 || ready === 0) return null;
  return {
    ...{ tone: "bad", head: "No worker is alive." },
    rest: `${plural(ready, "job")} ${ready === 1 ? "is" : "are"} ready, and no process takes them.`,
    link: { href: "#/workers", text: "Workers" },
  };
}

function openGate({ overview }: HealthFacts): Sentence | null {
  const open = overview.gates.filter(({ state }) => state === "open");
  const [first] = open;
  if (!first) return null;
  const until =
    first.openUntil === null ? "until it is closed" : `until ${clockTime(first.openUntil)}`;
  const waiting = sumReady(overview, first.queues);
  const jobs =
    waiting > 0 && first.queues.length > 0
      ? `; ${plural(waiting, "job")} of ${first.queues.join(", ")} ${waiting === 1 ? "waits" : "wait"}, uncharged`
      : "";
  const head =
    open.length === 1 ? "One dependency is down." : `${open.length} dependencies are down.`;
  return {
    ...{ tone: "warn", head, link: { href: "#/gates", text: "Gates" } },
    rest: `The breaker of gate ${first.name} is open ${until}${jobs}. Everything else runs.`,
  };
}

function sumReady(overview: Overview, queues: readonly string[]): number {
  return overview.queues
    .filter(({ queue }) => queues.includes(queue))
    .reduce((sum, { ready }) => sum + ready, 0);
}

/** Of the last five whole minutes. */
export function deadLately(stats: Stats | null): number {
  return stats === null ? 0 : stats.series.slice(-5).reduce((sum, { dead }) => sum + dead, 0);
}

function deadNow({ overview, stats }: HealthFacts): Sentence | null {
  const more = deadLately(stats);
  if (more === 0) return null;
  const [worst] = overview.faults;
  const of = worst ? ` Most of all: ${worst.type}, ${firstLine(worst.message)}` : "";
  return {
    ...{ tone: "bad", head: `Jobs are dying: ${count(more)} in five minutes.` },
    rest: `${cappedCount(overview.totals.dead)} dead in all.${of}`,
    link: { href: "#/dead-letters", text: "Dead letters" },
  };
}

function firstLine(message: string | null): string {
  return (message ?? "without a message").split("\n")[0]!.slice(0, 120);
}

/** Attempts of the last five minutes that failed, from 0 to 1; null: too few to say. */
export function failingShare(stats: Stats | null): number | null {
  if (stats === null) return null;
  const last = stats.series.slice(-5);
  const failed = last.reduce((sum, { retried, dead }) => sum + retried + dead, 0);
  const ended = failed + last.reduce((sum, { succeeded }) => sum + succeeded, 0);
  return ended === 0 ? null : failed / ended;
}

function failing({ stats }: HealthFacts): Sentence | null {
  const share = failingShare(stats);
  const [worst] = stats?.topFailing ?? [];
  if (share === null || share < FAILING_SHARE || !worst || worst.failed < FEW) return null;
  return {
    ...{ tone: "warn", head: `${percent(share)} % of attempts fail.` },
    rest: `Most of all ${worst.type}. Its jobs are tried again.`,
    link: { href: "#/failures", text: "Failures" },
  };
}

function late({ overview, now }: HealthFacts): Sentence | null {
  const waiting = overview.queues
    .filter(({ oldestReadyAt, holds }) => oldestReadyAt !== null && (holds?.length ?? 0) === 0)
    .map(({ queue, oldestReadyAt }) => ({ queue, ms: now - Date.parse(oldestReadyAt ?? "") }))
    .sort((a, b) => b.ms - a.ms);
  const [worst] = waiting;
  if (!worst || worst.ms < LATE_MS) return null;
  return {
    ...{ tone: "warn", head: `Queue ${worst.queue} is behind.` },
    rest: `Its oldest job has waited for ${duration(worst.ms)}.`,
    link: { href: `#/queues/${encodeURIComponent(worst.queue)}`, text: `Queue ${worst.queue}` },
  };
}

function paused({ overview }: HealthFacts): Sentence | null {
  const held = overview.queues.filter(({ holds }) => (holds?.length ?? 0) > 0);
  const [first] = held;
  if (!first) return null;
  const head = held.length === 1 ? "One queue is held." : `${held.length} queues are held.`;
  return {
    ...{ tone: "warn", head, link: { href: "#/queues", text: "Queues" } },
    rest: `${first.queue}: ${first.holds?.[0] ?? ""}. Everything else runs.`,
  };
}

function quietWorkers({ overview }: HealthFacts): Sentence | null {
  const { quiet, count: all } = overview.workers;
  if (quiet === 0) return null;
  return {
    ...{
      tone: "warn",
      head: `${quiet} of ${plural(all, "worker")} ${quiet === 1 ? "is" : "are"} quiet.`,
    },
    rest: "What is quiet takes no new jobs until it is resumed.",
    link: { href: "#/workers", text: "Workers" },
  };
}
