import type { TrimRequest } from "../../core/ledger.ts";
import { orEmpty } from "./args.ts";
import type { Looking } from "./job-view.ts";
import { rootsOf } from "./ledger.ts";
import { list, number, rows, text } from "./reply.ts";

const TRIM_STEP = 500;

/** They may be under any root. */
export async function removeEntries(looking: Looking, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  let removed = 0;
  for (const root of await rootsOf(looking)) {
    removed += number(await looking.server.onRoot("ledger-remove", root, [...ids]));
  }
  return removed;
}

export async function trim(looking: Looking, request: TrimRequest): Promise<number> {
  const roots = await rootsOf(looking);
  if (roots.length === 1 || request.keep === null) return trimEach(looking, roots, request);
  const { keep, limit } = request;
  const trimmed = await trimTooMany(looking, roots, { ...request, keep });
  if (request.olderThanMs === null) return trimmed;
  const rest = { ...request, keep: null, limit: limit - trimmed };
  return trimmed + (await trimEach(looking, roots, rest));
}

async function trimEach(
  { server }: Looking,
  roots: readonly string[],
  { kind, olderThanMs, keep, limit }: TrimRequest,
): Promise<number> {
  let trimmed = 0;
  for (const root of roots) {
    for (let isMore = true; isMore && trimmed < limit;) {
      const step = Math.min(TRIM_STEP, limit - trimmed);
      const args = [kind, orEmpty(olderThanMs), orEmpty(keep), step];
      const removed = number(await server.onRoot("ledger-trim", root, args));
      trimmed += removed;
      isMore = removed === step;
    }
  }
  return trimmed;
}

/** In a cluster entries of a kind are in several places: the oldest of all are looked for first. */
async function trimTooMany(
  looking: Looking,
  roots: readonly string[],
  request: TrimRequest & { readonly keep: number },
): Promise<number> {
  const { server } = looking;
  const { kind, keep, limit } = request;
  const listed = (root: string) => `${root}ek:${kind}`;
  const sizes = await Promise.all(
    roots.map(async (root) => Number(await server.command("ZCARD", listed(root)))),
  );
  const tooMany = sizes.reduce((sum, size) => sum + size, 0) - keep;
  const most = Math.min(tooMany, limit, TRIM_STEP);
  if (most <= 0) return 0;
  const oldest = await Promise.all(
    roots.map(async (root, index) => {
      const reply = await server.command("ZRANGE", listed(root), 0, most - 1, "WITHSCORES");
      // Pairs, or one after another: by the protocol that the client speaks.
      const found = list(reply).flatMap((item) => (Array.isArray(item) ? list(item) : [item]));
      return rows(found, 2).map(([member, at]) => ({
        index,
        member: text(member),
        at: number(at),
      }));
    }),
  );
  const gone = oldest
    .flat()
    .sort((a, b) => a.at - b.at || (a.member < b.member ? -1 : 1))
    .slice(0, most);
  let trimmed = 0;
  for (const [index, root] of roots.entries()) {
    const count = gone.filter((entry) => entry.index === index).length;
    const own = { kind, olderThanMs: null, keep: (sizes[index] ?? 0) - count, limit: count };
    if (count > 0) trimmed += await trimEach(looking, [root], own);
  }
  return trimmed;
}
