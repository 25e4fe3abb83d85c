/**
 * Dead jobs are archived before retention removes them. One process at a time does it: it reads what is past its
 * keeping, gives it to the archive, and removes exactly that once the archive has taken all of it. If the archive
 * fails, the jobs stay and it is tried again; so a job may be archived twice, and never not at all.
 */
import type { Retention } from "../../core/store.ts";
import type { Chore, Extension, ExtensionHost } from "../../engine/extension.ts";
import { jobView, type JobView } from "../../engine/operate/job-view.ts";
import { appendLines } from "./append-lines.ts";

/** A file, to which each job is a line of JSON; or a function that resolves once it has them. */
export type Archive =
  { readonly file: string } | ((jobs: readonly JobView[]) => Promise<void> | void);

/** Soon after the start: from then on no other process prunes dead jobs. */
const FIRST_MS = 5_000;
const EVERY_MS = 60_000;
const AFTER_TROUBLE_MS = 10_000;
const CLAIM = "holdfast/archiving";
/** Others leave it alone for so long after the last word of the one that does it, which it says again that often. */
const CLAIM_MS = 120_000;
const CLAIM_AGAIN_MS = 20_000;
const PAGE = 100;
const WHY = { by: null, reason: "archived" };

export function archiveDead(archive: Archive): (host: ExtensionHost) => Extension {
  const take =
    typeof archive === "function"
      ? archive
      : (jobs: readonly JobView[]) => appendLines(archive.file, jobs);
  return (host) => ({ name: "archive", chores: [archiveChore(host, take)] });
}

function archiveChore(
  host: ExtensionHost,
  take: (jobs: readonly JobView[]) => Promise<void> | void,
): Chore {
  return {
    name: "archive dead jobs",
    everyMs: FIRST_MS,
    async run({ isStopped }) {
      const { runtime } = host;
      let claimedAt = runtime.monotonic();
      if (!(await claim(host))) return EVERY_MS;
      const mayGoOn = async () => {
        if (isStopped()) return false;
        if (runtime.monotonic() - claimedAt < CLAIM_AGAIN_MS) return true;
        claimedAt = runtime.monotonic();
        return claim(host);
      };
      let nextMs = EVERY_MS;
      for (const due of await dueQueues(host)) {
        try {
          if (!(await archiveQueue(host, { take, mayGoOn }, due))) break;
        } catch (error) {
          host.logger.error(
            `dead jobs of queue ${due.queue} could not be archived: they are kept until they are`,
            { error },
          );
          nextMs = AFTER_TROUBLE_MS;
        }
      }
      return nextMs;
    },
  };
}

/** One process at a time; another may take over if it says nothing for two minutes. */
async function claim({ records, workers, jobs }: ExtensionHost): Promise<boolean> {
  const now = await jobs.now();
  const [found] = await records.read([CLAIM]);
  const held = found ? (JSON.parse(found.value) as { by: string; until: number }) : null;
  if (held !== null && held.by !== workers.id && held.until > now) return false;
  const value = JSON.stringify({ by: workers.id, until: now + CLAIM_MS });
  const swap = { key: CLAIM, expect: found?.version ?? null, value, ttlMs: CLAIM_MS };
  const [result] = await records.swap([swap]);
  return result?.swapped === true;
}

interface Due {
  readonly queue: string;
  /** Those that died before this. */
  readonly before: number;
}

/** Nothing is looked for in queues without dead jobs. */
async function dueQueues(host: ExtensionHost): Promise<Due[]> {
  const policies = await host.archivedPolicies();
  const bounded = policies.filter(({ olderThanMs, keep }) => olderThanMs !== null || keep !== null);
  if (bounded.length === 0) return [];
  const now = await host.jobs.now();
  const due: Due[] = [];
  for (const { queue, dead } of await host.jobs.count()) {
    const own = policies.find((policy) => policy.queue === queue);
    const policy = own ?? policies.find((general) => general.queue === null);
    if (dead === 0 || policy === undefined) continue;
    const before = await boundOf(host, policy, { queue, dead, now });
    if (before !== null) due.push({ queue, before });
  }
  return due;
}

async function boundOf(
  { jobs }: ExtensionHost,
  { olderThanMs, keep }: Retention,
  { queue, dead, now }: { readonly queue: string; readonly dead: number; readonly now: number },
): Promise<number | null> {
  const byAge = olderThanMs === null ? null : now - olderThanMs;
  if (keep === null || dead <= keep) return byAge;
  const ends: number[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof jobs.find>> = await jobs.find(
      { status: ["dead"], queue },
      { limit: 200, cursor, without: "payloads" },
    );
    ends.push(...page.jobs.flatMap(({ finishedAt }) => finishedAt ?? []));
    cursor = page.nextCursor;
  } while (cursor !== null);
  ends.sort((a, b) => b - a);
  // Those that died in the same moment as the last that is kept stay with it.
  const byCount = keep === 0 ? now : (ends[keep - 1] ?? now);
  return byAge === null ? byCount : Math.max(byAge, byCount);
}

/** False: this process is to do no more of it now. What it has archived and not removed is archived again. */
async function archiveQueue(
  { jobs }: ExtensionHost,
  how: {
    readonly take: (jobs: readonly JobView[]) => Promise<void> | void;
    readonly mayGoOn: () => Promise<boolean>;
  },
  { queue, before }: Due,
): Promise<boolean> {
  const filter = { status: ["dead"], queue, finishedTo: before } as const;
  const frozenAt = await jobs.now();
  let cursor: string | null = null;
  let archived = 0;
  do {
    if (!(await how.mayGoOn())) return false;
    const page: Awaited<ReturnType<typeof jobs.find>> = await jobs.find(filter, {
      ...{ limit: PAGE, cursor, order: "oldest", without: "payloads" },
    });
    const found = await jobs.get(page.jobs.map(({ id }) => ({ id, queue })));
    // One that was retried since has nothing to do with this any more.
    const dead = found.flatMap((job) =>
      typeof job === "object" && job?.status === "dead" && (job.finishedAt ?? before) < before
        ? [jobView(job)]
        : [],
    );
    if (dead.length > 0) await how.take(dead);
    archived += dead.length;
    cursor = page.nextCursor;
  } while (cursor !== null);
  if (archived === 0) return true;
  // By when they died, not by their ids: one that runs again by now is left alone.
  do {
    // What the archive has may go, whoever is at it: here the answer only keeps others from beginning anew.
    await how.mayGoOn();
    const target = { filter, frozenAt, limit: 200, cursor };
    const step: Awaited<ReturnType<typeof jobs.remove>> = await jobs.remove(target, WHY);
    cursor = step.nextCursor;
  } while (cursor !== null);
  return true;
}
