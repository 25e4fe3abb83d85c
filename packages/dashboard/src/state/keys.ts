/** Keys that do something. Each is named, and `?` lists them all. */
import { useEffect } from "preact/hooks";
import { cell } from "./cell.ts";

export interface Key {
  /** `"/"`, `"f"`, `"g o"`: one after the other. */
  readonly keys: string;
  readonly does: string;
  readonly run: () => void;
}

const SEQUENCE_MS = 1_200;

/** The last one that was added wins: a page comes before the shell. */
export const allKeys = cell<readonly Key[]>([]);

let begun = "";
let begunAt = 0;

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
  if (event.key === "Shift") return;
  const before = Date.now() - begunAt < SEQUENCE_MS ? `${begun} ` : "";
  const found = find(before + event.key) ?? find(event.key);
  if (found) {
    begun = "";
    event.preventDefault();
    found.run();
    return;
  }
  begun = event.key;
  begunAt = Date.now();
});

function find(keys: string): Key | undefined {
  return allKeys.get().findLast((one) => one.keys === keys);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

export function useKeys(keys: readonly Key[], dependsOn: readonly unknown[] = []): void {
  useEffect(() => {
    allKeys.set([...allKeys.get(), ...keys]);
    return () => allKeys.set(allKeys.get().filter((one) => !keys.includes(one)));
  }, dependsOn);
}
