/**
 * Marks the failures of a job as set right: a person who retries it has dealt with them. The job may run and
 * fail again meanwhile, so only attempts that were made before the retry are meant.
 */
import type { FailureBody, LedgerPage } from "../../core/ledger.ts";
import { sleep, type ExtensionHost } from "../../engine/extension.ts";
import { RESOLVED } from "./failures.ts";

const PAGE = 100;
const TRIES = 3;
const TRY_AGAIN_MS = 200;

export async function resolveEntries(
  { ledger }: Pick<ExtensionHost, "ledger">,
  { id: jobId, attempts }: { readonly id: string; readonly attempts: number },
  why: { readonly by: string | null; readonly reason: string | null },
): Promise<void> {
  const filter = { kind: "failure", jobId };
  let cursor: string | null = null;
  do {
    const page: LedgerPage = await ledger((book) => book.read(filter, { limit: PAGE, cursor }));
    const amendments = page.entries
      .filter(({ state }) => state !== RESOLVED)
      .map(({ id, body }) => ({ id, body: JSON.parse(body) as FailureBody }))
      .filter(({ body }) => body.attempt <= attempts)
      .map(({ id, body }) => {
        const told: FailureBody = { ...body, resolvedBy: why.by, resolution: why.reason };
        return { id, state: RESOLVED, body: JSON.stringify(told) };
      });
    if (amendments.length > 0) await ledger((book) => book.amend(amendments));
    cursor = page.nextCursor;
  } while (cursor !== null);
}

/** After a retry. It has happened, so trouble with the ledger is logged, not thrown. */
export async function resolveRetried(
  { host, ledgerWriter }: { host: ExtensionHost; ledgerWriter: { readonly home: string } },
  job: { readonly id: string; readonly attempts: number },
  { by, reason }: { readonly by?: string | undefined; readonly reason?: string | undefined },
): Promise<void> {
  if (ledgerWriter.home === "nowhere") return;
  for (let tries = 1; ; tries += 1) {
    try {
      return await resolveEntries(host, job, { by: by ?? null, reason: reason ?? null });
    } catch (error) {
      // Another store may be away for long: no caller waits for it.
      if (tries < TRIES && ledgerWriter.home === "store") {
        await sleep(host.runtime, TRY_AGAIN_MS);
        continue;
      }
      host.logger.warn(`the failures of job ${job.id} could not be marked resolved`, { error });
      return;
    }
  }
}
