/**
 * What a page asks the server for. Old content stays while new content comes; a hidden tab and a frozen page ask
 * for nothing; an answer that comes too late for what is shown is dropped.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isFrozen, isVisible } from "./visible.ts";

export interface Loaded<Data> {
  readonly data: Data | null;
  /** Of the last try; the data is older then. */
  readonly error: Error | null;
  /** The first answer to this question has not come yet: what is shown belongs to the last one. */
  readonly isOld: boolean;
  readonly reload: () => void;
  /** When the data came, by this clock. */
  readonly at: number | null;
}

interface State<Data> {
  readonly key: string;
  readonly data: Data | null;
  readonly error: Error | null;
  readonly at: number | null;
}

export function useLoad<Data>(
  /** What is asked; another key is another question. Null: nothing. */
  key: string | null,
  load: (signal: AbortSignal) => Promise<Data>,
  /** Asked again so often, while it is looked at. Default: never. */
  everyMs: number | null = null,
): Loaded<Data> {
  const [state, setState] = useState<State<Data> | null>(null);
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const reload = useCallback(() => setRound((times) => times + 1), []);

  useEffect(() => {
    if (key === null) return;
    const stopper = new AbortController();
    let timer: ReturnType<typeof setTimeout> | null = null;
    let isAsking = false;
    const ask = async () => {
      if (isAsking) return;
      isAsking = true;
      if (timer) clearTimeout(timer);
      timer = null;
      try {
        const data = await latest.current(stopper.signal);
        if (!stopper.signal.aborted) setState({ key, data, error: null, at: Date.now() });
      } catch (error) {
        if (!stopper.signal.aborted) {
          setState((before) => ({
            ...{ key, error: error as Error, at: before?.at ?? null },
            data: before?.key === key ? before.data : null,
          }));
        }
      }
      isAsking = false;
      if (everyMs !== null && !stopper.signal.aborted) timer = setTimeout(tick, everyMs);
    };
    const tick = () => {
      timer = null;
      if (isVisible.get() && !isFrozen.get()) void ask();
    };
    // A first look is answered, also on a frozen page: someone asked for it.
    void ask();
    const wake = () => {
      if (everyMs !== null && timer === null && isVisible.get() && !isFrozen.get()) void ask();
    };
    const stops = [isVisible.listen(wake), isFrozen.listen(wake)];
    return () => {
      stopper.abort();
      if (timer) clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [key, round, everyMs]);

  return {
    data: state?.data ?? null,
    error: state !== null && state.key === key ? state.error : null,
    isOld: key !== null && state?.key !== key,
    at: state?.at ?? null,
    reload,
  };
}
