/**
 * What a page asks the server for. Old content stays while new content comes; a hidden tab and a frozen page ask
 * for nothing; an answer that comes too late for what is shown is dropped.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isFrozen, isVisible } from "./visible.ts";

/** Until something came that says how soon it changes. */
const FIRST_MS = 2_000;

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
  /** Asked again so often, while it is looked at; what is over changes more seldom. Default: never. */
  everyMs: number | ((data: Data) => number) | null = null,
): Loaded<Data> {
  const [state, setState] = useState<State<Data> | null>(null);
  const [round, setRound] = useState(0);
  const latest = useRef({ load, everyMs });
  latest.current = { load, everyMs };
  const pace = typeof everyMs === "function" ? "by what came" : everyMs;
  const reload = useCallback(() => setRound((times) => times + 1), []);

  useEffect(() => {
    if (key === null) return;
    const stopper = new AbortController();
    let timer: ReturnType<typeof setTimeout> | null = null;
    let isAsking = false;
    let waitMs = FIRST_MS;
    const ask = async () => {
      if (isAsking) return;
      isAsking = true;
      if (timer) clearTimeout(timer);
      timer = null;
      try {
        const data = await latest.current.load(stopper.signal);
        const { everyMs: every } = latest.current;
        if (typeof every === "function") waitMs = every(data);
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
      if (pace === null || stopper.signal.aborted) return;
      timer = setTimeout(tick, typeof pace === "number" ? pace : waitMs);
    };
    const tick = () => {
      timer = null;
      if (isVisible.get() && !isFrozen.get()) void ask();
    };
    // A first look is answered, also on a frozen page: someone asked for it.
    void ask();
    const wake = () => {
      if (pace !== null && timer === null && isVisible.get() && !isFrozen.get()) void ask();
    };
    const stops = [isVisible.listen(wake), isFrozen.listen(wake)];
    return () => {
      stopper.abort();
      if (timer) clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [key, round, pace]);

  return {
    data: state?.data ?? null,
    error: state !== null && state.key === key ? state.error : null,
    isOld: key !== null && state?.key !== key,
    at: state?.at ?? null,
    reload,
  };
}
