/** Where schedules are kept: a record each, and one whose version tells that some of them changed. */
import { putRecord } from "../../core/put-record.ts";
import type { Records } from "../../core/records.ts";
import { SCHEDULES, type ScheduleState } from "../../core/schedule.ts";
import type { ExtensionHost } from "../../engine/extension.ts";

const CHANGED = "holdfast/schedules-changed";
const PAGE = 200;

export interface Versioned {
  readonly state: ScheduleState;
  readonly version: number;
}

export interface Write {
  readonly state: ScheduleState;
  /** The version it was made from; null: there is none yet. */
  readonly expect: number | null;
}

export async function readSchedules(
  records: Records,
  names: readonly string[],
): Promise<(Versioned | null)[]> {
  const found = await records.read(names.map((name) => SCHEDULES + name));
  return found.map((record) =>
    record ? { state: JSON.parse(record.value) as ScheduleState, version: record.version } : null,
  );
}

export async function readSchedule(records: Records, name: string): Promise<Versioned | null> {
  return (await readSchedules(records, [name]))[0] ?? null;
}

/** Null for each that another process wrote meanwhile. A lost reply is told from that by the mark. */
export async function writeSchedules(
  host: Pick<ExtensionHost, "records" | "runtime">,
  writes: readonly Write[],
): Promise<(Versioned | null)[]> {
  if (writes.length === 0) return [];
  const mark = host.runtime.id();
  const marked = writes.map(({ state }) => ({ ...state, mark }));
  const values = marked.map((state) => JSON.stringify(state));
  const results = await host.records.swap(
    writes.map(({ expect }, at) => ({
      ...{ key: SCHEDULES + marked[at]!.name, expect, value: values[at]!, ttlMs: null },
    })),
  );
  return results.map((result, at) => {
    const state = marked[at]!;
    if (result.swapped) return { state, version: result.version! };
    const { current } = result;
    return current?.value === values[at] ? { state, version: current!.version } : null;
  });
}

/** Reads and writes until no other process came between. Null: there is none of this name, or nothing to write. */
export async function changeSchedule(
  host: Pick<ExtensionHost, "records" | "runtime">,
  name: string,
  change: (state: ScheduleState | null) => ScheduleState | null | Promise<ScheduleState | null>,
): Promise<ScheduleState | null> {
  for (;;) {
    const found = await readSchedule(host.records, name);
    const state = await change(found?.state ?? null);
    if (state === null) return null;
    const [written] = await writeSchedules(host, [{ state, expect: found?.version ?? null }]);
    if (written) return written.state;
  }
}

export async function removeSchedule(records: Records, name: string): Promise<void> {
  await putRecord(records, SCHEDULES + name, { value: null, ttlMs: null });
}

/** In the order of their names. */
export async function pageOfSchedules(
  records: Records,
  page: { readonly limit?: number; readonly cursor?: string | null; readonly prefix?: string },
): Promise<{ readonly states: ScheduleState[]; readonly nextCursor: string | null }> {
  const { limit = PAGE, cursor = null, prefix = "" } = page;
  const found = await records.scan({ prefix: SCHEDULES + prefix, limit, cursor });
  const states = found.records.map(({ value }) => JSON.parse(value) as ScheduleState);
  return { states, nextCursor: found.nextCursor };
}

/** Grows whenever schedules were made, changed or removed; null: that never happened. */
export async function changesOf(records: Records): Promise<number | null> {
  const [found] = await records.read([CHANGED]);
  return found?.version ?? null;
}

/** Lets every process know. Ticks need it not: each process that comes to a tick reads its record. */
export async function announce(host: ExtensionHost): Promise<void> {
  await putRecord(host.records, CHANGED, { value: "{}", ttlMs: null });
  await host.workers.announceChange();
}
