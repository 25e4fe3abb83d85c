/** Which jobs an operation is about: by filter, strategy and share, frozen when it is planned. */
import type { JobSummary } from "../../core/job.ts";
import type { JobFilter } from "../../core/store.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import type { IdRef } from "./operation.ts";

export const STRATEGIES = ["oldest", "newest", "random"] as const;
export type Strategy = (typeof STRATEGIES)[number];
export const MOST_IDS = 10_000;
/** A draw is made among so many. */
const MOST_DRAWN_FROM = 50_000;
const PAGE = 200;
const SAMPLE = 10;

export interface Choice {
  readonly filter: JobFilter;
  readonly isMeant: (job: JobSummary) => boolean;
  readonly strategy: Strategy;
  readonly limit: number;
  /** At most so many of one category. */
  readonly perCategory: number | null;
  /** The same seed draws the same jobs. */
  readonly seed: number;
}

export interface Chosen {
  readonly refs: readonly IdRef[];
  readonly byCategory: Readonly<Record<string, number>>;
  readonly sample: readonly JobSummary[];
  /** More jobs match than it takes. */
  readonly isCut: boolean;
}

interface Found extends IdRef {
  readonly category: string;
  readonly summary: JobSummary;
}

export async function chooseJobs(
  { jobs }: Pick<ExtensionHost, "jobs">,
  choice: Choice,
): Promise<Chosen> {
  const { filter, isMeant, strategy, limit, perCategory, seed } = choice;
  const order = strategy === "oldest" ? "oldest" : "newest";
  const most = strategy === "random" ? MOST_DRAWN_FROM : limit;
  const shares = new Map<string, number>();
  const found: Found[] = [];
  let isCut = false;
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof jobs.find>> = await jobs.find(filter, {
      ...{ limit: PAGE, cursor, order, without: "payloads" },
    });
    for (const summary of page.jobs.filter(isMeant)) {
      const category = summary.error?.category ?? "none";
      const taken = shares.get(category) ?? 0;
      const isFull = found.length >= most;
      if (isFull || (strategy !== "random" && perCategory !== null && taken >= perCategory)) {
        isCut = true;
        continue;
      }
      shares.set(category, taken + 1);
      found.push({ id: summary.id, queue: summary.queue, category, summary });
    }
    cursor = page.nextCursor;
  } while (cursor !== null && found.length < most);
  const drawn = strategy === "random" ? shared(shuffled(found, seed), perCategory, limit) : found;
  const byCategory: Record<string, number> = {};
  for (const { category } of drawn) byCategory[category] = (byCategory[category] ?? 0) + 1;
  return {
    refs: drawn.map(({ id, queue }) => ({ id, queue })),
    byCategory,
    sample: drawn.slice(0, SAMPLE).map(({ summary }) => summary),
    isCut: isCut || cursor !== null || drawn.length < found.length,
  };
}

function shared(jobs: readonly Found[], perCategory: number | null, limit: number): Found[] {
  const shares = new Map<string, number>();
  const chosen: Found[] = [];
  for (const job of jobs) {
    const taken = shares.get(job.category) ?? 0;
    if (chosen.length === limit) break;
    if (perCategory !== null && taken >= perCategory) continue;
    shares.set(job.category, taken + 1);
    chosen.push(job);
  }
  return chosen;
}

/** Fisher and Yates, with a small generator of its own: a plan can be made again. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  const mixed = [...items];
  let state = seed >>> 0 || 1;
  for (let at = mixed.length - 1; at > 0; at--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (at + 1));
    [mixed[at], mixed[other]] = [mixed[other] as T, mixed[at] as T];
  }
  return mixed;
}
