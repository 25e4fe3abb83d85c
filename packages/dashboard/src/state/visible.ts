/** A tab that is not looked at asks for nothing. */
import { cell } from "./cell.ts";

export const isVisible = cell(document.visibilityState === "visible");

document.addEventListener("visibilitychange", () =>
  isVisible.set(document.visibilityState === "visible"),
);

/** Everything stands still: no event is taken, nothing is asked again, not even when the tab is looked at anew. */
export const isFrozen = cell(false);
