/** What failed, by type, from the ledger alone: for the time in which the store of the jobs is away. */
import type { LedgerFilter, LedgerPage } from "../../core/ledger.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import { FailingTypes } from "./failing-types.ts";

const PAGE = 500;
/** The newest so many: an outage is no time for long reads. */
const MOST_READ = 2_000;

export async function readFailures(
  { ledger }: Pick<ExtensionHost, "ledger">,
  filter: LedgerFilter,
): Promise<FailingTypes> {
  const failing = new FailingTypes();
  let cursor: string | null = null;
  let read = 0;
  do {
    const page: LedgerPage = await ledger((book) => book.read(filter, { limit: PAGE, cursor }));
    for (const { type, isFinal } of page.entries) {
      failing.add({ type: type ?? "", failed: 1, dead: isFinal === true ? 1 : 0 });
    }
    read += page.entries.length;
    cursor = page.nextCursor;
  } while (cursor !== null && read < MOST_READ);
  return failing;
}
