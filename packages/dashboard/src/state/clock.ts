/** The time for ages on the page: it moves once a second, and stands still with the page. */
import { useLayoutEffect, useReducer, useRef } from "preact/hooks";
import { cell, useCell } from "./cell.ts";
import { isFrozen, isVisible } from "./visible.ts";

const now = cell(Date.now());
/** By how much the server's clock is ahead of this one: ages are told by the server's. */
let ahead = 0;

export function noteServerTime(at: string): void {
  const seen = Date.parse(at) - Date.now();
  // A message takes time: the largest lead of the last ones is nearest to the truth, and may shrink slowly.
  ahead = seen > ahead || ahead - seen > 5_000 ? seen : ahead - (ahead - seen) * 0.05;
}

setInterval(() => {
  if (isVisible.get() && !isFrozen.get()) now.set(Date.now() + ahead);
}, 1_000);

isVisible.listen(() => {
  if (isVisible.get() && !isFrozen.get()) now.set(Date.now() + ahead);
});

export function useNow(): number {
  return useCell(now);
}

/** A text that depends on the time. Only what reads otherwise than a second ago is drawn again: a page has hundreds. */
export function useTextByNow(textAt: (now: number) => string): string {
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const text = textAt(now.get());
  const latest = useRef({ text, textAt });
  latest.current = { text, textAt };
  useLayoutEffect(
    () =>
      now.listen(() => {
        const { text: shown, textAt: tell } = latest.current;
        if (tell(now.get()) !== shown) redraw(undefined);
      }),
    [],
  );
  return text;
}

export function currentTime(): number {
  return Date.now() + ahead;
}
