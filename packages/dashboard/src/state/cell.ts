/** A value that components follow. */
import { useLayoutEffect, useReducer } from "preact/hooks";

export interface Cell<Value> {
  get(): Value;
  set(value: Value): void;
  listen(onChange: () => void): () => void;
}

export function cell<Value>(initial: Value): Cell<Value> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    listen(onChange) {
      listeners.add(onChange);
      return () => void listeners.delete(onChange);
    },
  };
}

export function useCell<Value>(followed: Cell<Value>): Value {
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const value = followed.get();
  useLayoutEffect(() => {
    const stop = followed.listen(() => redraw(undefined));
    // It may have changed between drawing and now.
    if (!Object.is(followed.get(), value)) redraw(undefined);
    return stop;
  }, [followed]);
  return value;
}
