import type { Records } from "./records.ts";

/** Writes a record whatever is there; null deletes it. Of several writers the last one stays. */
export async function putRecord(
  records: Records,
  key: string,
  { value, ttlMs }: { readonly value: string | null; readonly ttlMs: number | null },
): Promise<void> {
  for (;;) {
    const [found] = await records.read([key]);
    if (!found && value === null) return;
    const [result] = await records.swap([{ key, expect: found?.version ?? null, value, ttlMs }]);
    if (result?.swapped) return;
  }
}
