/**
 * A list that is asked for again and does not jump: rows that are shown take their newest standing, new rows wait
 * behind "+12 new" until they are asked for. A row that the newest answer has not stands as it was, and is counted.
 */
import { useEffect, useState } from "preact/hooks";
import type { JobListing, Page } from "../../api/types.ts";
import { useLoad, type Loaded } from "../../state/use-load.ts";

export interface FreshList extends Loaded<Page<JobListing>> {
  readonly fresh: number;
  /** Rows that do not fit any more, or that newer ones have driven off the page: of them nothing new is heard. */
  readonly older: number;
  readonly takeFresh: () => void;
}

export function useFreshList(
  key: string,
  load: (signal: AbortSignal) => Promise<Page<JobListing>>,
  everyMs: number | null,
): FreshList {
  const loaded = useLoad(key, load, everyMs);
  const [shown, setShown] = useState<{ key: string; page: Page<JobListing> } | null>(null);
  const [isAsked, setAsked] = useState(false);
  const { data, isOld } = loaded;

  useEffect(() => {
    if (data === null || isOld) return;
    if (shown?.key !== key || isAsked) {
      setShown({ key, page: data });
      setAsked(false);
      return;
    }
    const newest = new Map(data.items.map((job) => [job.id, job]));
    const items = shown.page.items.map((job) => newest.get(job.id) ?? job);
    setShown({ key, page: { ...shown.page, items } });
  }, [data, isOld, key]);

  const known = new Set(shown?.page.items.map(({ id }) => id));
  const isSame = shown?.key === key;
  const newest = isSame && data && !isOld ? data.items : null;
  const fresh = newest?.filter(({ id }) => !known.has(id)).length ?? 0;
  const older = newest === null ? 0 : known.size - (newest.length - fresh);
  return {
    ...loaded,
    data: shown?.page ?? null,
    isOld: isOld || (shown !== null && !isSame),
    ...{ fresh, older },
    takeFresh() {
      if (data) setShown({ key, page: data });
    },
    reload() {
      setAsked(true);
      loaded.reload();
    },
  };
}
