/** Marks the failures of a job as set right: a person who retries it has dealt with them. */
import type { FailureBody, LedgerPage } from "../../core/ledger.ts";
import { sleep, type ExtensionHost } from "../../engine/extension.ts";
import { RESOLVED } from "./failures.ts";

const PAGE = 100;
const TRIES = 3;
const TRY_AGAIN_MS = 200;

export async function resolveEntries(
  { ledger }: Pick<ExtensionHost, "ledger">,
  jobId: string,
  why: { readonly by: string | null; readonly reason: string | null },
): Promise<void> {
  const filter = { kind: "failure", jobId };
  let cursor: string | null = null;
  do {
    const page: LedgerPage = await ledger((book) => book.read(filter, { limit: PAGE, cursor }));
    const open = page.entries.filter(({ state }) => state !== RESOLVED);
    const amendments = open.map(({ id, body }) => {
      const resolved = { resolvedBy: why.by, resolution: why.reason };
      const told: FailureBody = { ...(JSON.parse(body) as FailureBody), ...resolved };
      return { id, state: RESOLVED, body: JSON.stringify(told) };
    });
    if (amendments.length > 0) await ledger((book) => book.amend(amendments));
    cursor = page.nextCursor;
  } while (cursor !== null);
}

/** After a retry. It has happened, so trouble with the ledger is logged, not thrown. */
export async function resolveRetried(
  { host, ledgerWriter }: { host: ExtensionHost; ledgerWriter: { readonly home: string } },
  jobId: string,
  { by, reason }: { readonly by?: string | undefined; readonly reason?: string | undefined },
): Promise<void> {
  if (ledgerWriter.home === "nowhere") return;
  for (let tries = 1; ; tries += 1) {
    try {
      return await resolveEntries(host, jobId, { by: by ?? null, reason: reason ?? null });
    } catch (error) {
      // Another store may be away for long: no caller waits for it.
      if (tries < TRIES && ledgerWriter.home === "store") {
        await sleep(host.runtime, TRY_AGAIN_MS);
        continue;
      }
      host.logger.warn(`the failures of job ${jobId} could not be marked resolved`, { error });
      return;
    }
  }
}
