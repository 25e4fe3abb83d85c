/** Where operations are kept. */
import type { Records } from "../../core/records.ts";
import { CHUNK, type IdRef, type OperationRecord } from "./operation.ts";

const OPERATIONS = "holdfast/operations/";
const IDS = "holdfast/operation-ids/";
/** A plan that is not started in a day, and what is over for 90, is forgotten. */
const PLANNED_MS = 86_400_000;
const KEPT_MS = 90 * 86_400_000;
/** Ids are there for as long as their plan may be started. */
const IDS_PLANNED_MS = PLANNED_MS + 3_600_000;
const PAGE = 200;
const IDS_AT_ONCE = 20;

export interface Versioned {
  readonly operation: OperationRecord;
  readonly version: number;
}

export async function storePlan(
  records: Records,
  operation: OperationRecord,
  refs: readonly IdRef[],
): Promise<void> {
  const swaps = Array.from({ length: operation.chunks }, (_, chunk) => ({
    key: idsKey(operation.id, chunk),
    expect: null,
    value: JSON.stringify(refs.slice(chunk * CHUNK, (chunk + 1) * CHUNK)),
    ttlMs: IDS_PLANNED_MS,
  }));
  for (let from = 0; from < swaps.length; from += IDS_AT_ONCE) {
    await records.swap(swaps.slice(from, from + IDS_AT_ONCE));
  }
  await writeOperation(records, operation, null);
}

/** Of an operation that is about to start. Most plans are only looked at, and theirs need not be kept. */
export async function keepIds(
  records: Records,
  { id, chunks }: Pick<OperationRecord, "id" | "chunks">,
): Promise<void> {
  const keys = Array.from({ length: chunks }, (_, chunk) => idsKey(id, chunk));
  for (let from = 0; from < keys.length; from += IDS_AT_ONCE) {
    const found = await records.read(keys.slice(from, from + IDS_AT_ONCE));
    const swaps = found
      .filter((record) => record !== null)
      .map(({ key, version, value }) => ({ key, expect: version, value, ttlMs: KEPT_MS }));
    await records.swap(swaps);
  }
}

/** Null: another process wrote it meanwhile, or it is gone. */
export async function writeOperation(
  records: Records,
  operation: OperationRecord,
  expect: number | null,
): Promise<Versioned | null> {
  const value = JSON.stringify(operation);
  const ttlMs = operation.state === "planned" ? PLANNED_MS : KEPT_MS;
  const key = OPERATIONS + operation.id;
  const [result] = await records.swap([{ key, expect, value, ttlMs }]);
  if (result?.swapped && result.version !== null) return { operation, version: result.version };
  // A lost reply looks like a lost race: what is there may be our own.
  const current = result?.swapped === false ? result.current : null;
  return current?.value === value ? { operation, version: current.version } : null;
}

export async function readOperation(records: Records, id: string): Promise<Versioned | null> {
  const [found] = await records.read([OPERATIONS + id]);
  return found
    ? { operation: JSON.parse(found.value) as OperationRecord, version: found.version }
    : null;
}

export async function listOperations(records: Records): Promise<Versioned[]> {
  const all: Versioned[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Records["scan"]>> = await records.scan({
      ...{ prefix: OPERATIONS, limit: PAGE, cursor },
    });
    for (const { value, version } of page.records) {
      all.push({ operation: JSON.parse(value) as OperationRecord, version });
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  return all;
}

export async function readChunk(records: Records, id: string, chunk: number): Promise<IdRef[]> {
  const [found] = await records.read([idsKey(id, chunk)]);
  return found ? (JSON.parse(found.value) as IdRef[]) : [];
}

function idsKey(id: string, chunk: number): string {
  return `${IDS}${id}/${String(chunk).padStart(4, "0")}`;
}
