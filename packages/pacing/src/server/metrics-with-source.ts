/**
 * Metrics that say where they come from, by the words of system 3: `redis`, `redis-error+db-fallback`,
 * `redis-disabled+db-fallback`, `db-only`. On other stores the first word is the store's own name.
 */
import { SimulationNotFoundError } from "../errors.ts";
import type { Pacing } from "../pacing.ts";
import { isAway } from "../records-desk.ts";

const names = new WeakMap<Pacing, string>();

export async function metricsWithSource(pacing: Pacing, id: string, isLive: boolean) {
  if (!isLive) return fromRow(pacing, id, `${await storeName(pacing)}-disabled+db-fallback`);
  try {
    const metrics = await pacing.metrics(id);
    return { ...metrics, source: await storeName(pacing) };
  } catch (error) {
    // The jobs' store has forgotten it, and the ledger's has not.
    if (error instanceof SimulationNotFoundError) return fromRow(pacing, id, "db-only", error);
    if (!isAway(error)) throw error;
    return fromRow(pacing, id, `${await storeName(pacing)}-error+db-fallback`, error as Error);
  }
}

async function fromRow(pacing: Pacing, id: string, source: string, cause?: Error) {
  const row = await pacing.row(id);
  if (row) return { ...row, source };
  throw cause ?? new SimulationNotFoundError(`there is no simulation "${id}"`);
}

/** As it was when it answered last. */
async function storeName(pacing: Pacing): Promise<string> {
  try {
    const { name } = await pacing.hf.info();
    names.set(pacing, name);
    return name;
  } catch {
    return names.get(pacing) ?? "store";
  }
}
