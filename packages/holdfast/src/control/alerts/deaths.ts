/**
 * Dead jobs, on their way into alerts. Each death is an entry of the ledger, written with the settle that made
 * the job dead: none can be forgotten. A process gathers new entries into the record of their fault, and an
 * alert takes what has gathered: the first at once, the next an hour later.
 */
import {
  deadAlert,
  gathered,
  isDue,
  NOTHING_TOLD,
  uncounted,
  type AlertRecord,
  type Death,
  type DeathBody,
} from "../../core/alert-record.ts";
import type { LedgerEntry, StoredEntry } from "../../core/ledger.ts";
import type { Outcome } from "../../core/outcome.ts";
import { cleanText } from "../../core/text.ts";
import { derivedUuid, type AttemptView, type ExtensionHost } from "../../engine/extension.ts";
import { SUBJECTS, type Found, type RaiseAlerts } from "./raise-alerts.ts";

const KIND = "death";
const NEW = "new";
const TOLD = "told";
/** Entries in one step. */
const STEP = 200;
/** Of races with other processes, in one look. */
const TRIES = 10;
const MOST_MESSAGE = 500;
/** Entries that were told of are of no more use. */
const KEPT_MS = 86_400_000;

/** Rides with the settle that makes the job dead. */
export function deathEntry(
  { redactor, entryTime }: ExtensionHost,
  attempt: AttemptView,
  { failure, reason }: Extract<Outcome, { kind: "die" }>,
): LedgerEntry {
  const { id, fence, type, queue, group, contract } = attempt;
  const { category, fingerprint } = failure;
  const body: DeathBody = {
    ...{ category, reason, attempts: attempt.attempt },
    message: cleanText(redactor.text(failure.message), MOST_MESSAGE),
    ...{ guidance: contract?.guidance ?? null, link: contract?.link ?? null },
  };
  return {
    ...{ id: derivedUuid(KIND, id, fence), kind: KIND, jobId: id, type, queue, group },
    ...{ category, fingerprint, isFinal: null, state: NEW },
    ...{ body: JSON.stringify(body), at: entryTime() },
  };
}

/** Gathers all new deaths. Answers how many alerts it raised. */
export async function gatherDeaths(
  host: ExtensionHost,
  raise: RaiseAlerts,
  isStopped: () => boolean = () => false,
): Promise<number> {
  let told = 0;
  for (let moved = true; moved && !isStopped();) {
    const { entries } = await host.ledger((book) =>
      book.read({ kind: KIND, state: NEW }, { limit: STEP }),
    );
    moved = false;
    for (const [subject, alike] of bySubject(entries)) {
      const came = await gatherAlike(host, raise, SUBJECTS + subject, alike);
      if (came === "told") told += 1;
      if (came !== "lost") moved = true;
    }
  }
  return told;
}

/** Raises what has gathered, once its hour is over. */
export async function tellDeaths(
  raise: RaiseAlerts,
  key: string,
  { record, version }: Found,
  now: number,
): Promise<boolean> {
  if (!record?.deaths) return false;
  const { deaths } = record;
  return raise.raise({ key, before: record, version, now }, ({ id }) =>
    deadAlert(deaths, { id, now }),
  );
}

/** Forgets entries that were told of long ago. */
export async function trimDeaths({ ledger }: ExtensionHost): Promise<void> {
  const request = { kind: KIND, olderThanMs: KEPT_MS, keep: null, limit: 500 };
  while ((await ledger((book) => book.trim(request))) === request.limit);
}

/** Deaths of one fault. `lost`: other processes were always first. */
async function gatherAlike(
  host: ExtensionHost,
  raise: RaiseAlerts,
  key: string,
  alike: readonly StoredEntry[],
): Promise<"told" | "gathered" | "lost"> {
  const ids = alike.map(({ id }) => id);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { record, version } = await raise.read(key);
    // Read again after the record: what another process has marked by now is in no one's batch any more.
    const page = await host.ledger((book) => book.read({ ids }, { limit: ids.length }));
    const fresh = page.entries.filter(({ state }) => state === NEW);
    if (fresh.length === 0) return "gathered";
    const wanted = uncounted(record, fresh.map(deathOf));
    if (wanted.length === 0) {
      await mark(host, fresh);
      return "gathered";
    }
    const before: Omit<AlertRecord, "mark"> = record ?? NOTHING_TOLD;
    const unmarked = fresh.map(({ id }) => id);
    const next = gathered(before, wanted, { mark: host.runtime.id(), unmarked });
    const now = await host.jobs.now();
    if (!isDue(before, now)) {
      if ((await raise.write(key, next, version)) === null) continue;
      await mark(host, fresh);
      return "gathered";
    }
    const deaths = next.deaths!;
    const make = ({ id }: { readonly id: string }) => deadAlert(deaths, { id, now });
    // Marked after the record says that they are counted; if this process dies in between, the next one does.
    if (!(await raise.raise({ key, before: next, version, now }, make))) continue;
    await mark(host, fresh);
    return "told";
  }
  return "lost";
}

async function mark({ ledger }: ExtensionHost, entries: readonly StoredEntry[]): Promise<void> {
  const amendments = entries.map(({ id }) => ({ id, state: TOLD }));
  await ledger((book) => book.amend(amendments));
}

function bySubject(entries: readonly StoredEntry[]): Map<string, StoredEntry[]> {
  const groups = new Map<string, StoredEntry[]>();
  for (const entry of entries) {
    const subject = `dead/${entry.fingerprint ?? `none-${entry.type}`}`;
    const alike = groups.get(subject);
    if (alike) alike.push(entry);
    else groups.set(subject, [entry]);
  }
  return groups;
}

function deathOf({ id, jobId, type, queue, fingerprint, at, body }: StoredEntry): Death {
  return {
    ...{ entry: id, jobId: jobId ?? "", at, type: type ?? "", queue: queue ?? "", fingerprint },
    body: JSON.parse(body) as DeathBody,
  };
}
