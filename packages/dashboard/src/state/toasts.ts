/** What was done, in a corner, for a few seconds; what failed stays until it is read. */
import { cell } from "./cell.ts";

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isBad: boolean;
  readonly link: { readonly href: string; readonly text: string } | null;
}

const SHOWN_MS = 6_000;
const MOST = 4;

export const toasts = cell<readonly Toast[]>([]);
let last = 0;

export function tell(text: string, link: Toast["link"] = null): void {
  add({ text, link, isBad: false });
}

export function tellError(error: unknown): void {
  add({ text: error instanceof Error ? error.message : String(error), link: null, isBad: true });
}

export function dismiss(id: number): void {
  toasts.set(toasts.get().filter((one) => one.id !== id));
}

function add(toast: Omit<Toast, "id">): void {
  const id = (last += 1);
  toasts.set([...toasts.get(), { id, ...toast }].slice(-MOST));
  if (!toast.isBad) setTimeout(() => dismiss(id), SHOWN_MS);
}
