/** From page to page by the store's cursors; where one is, is in the address. */
import type { ComponentChildren } from "preact";
import { href, usePlace } from "../state/router.ts";

interface PagerProps {
  readonly nextCursor: string | null;
  /** What this page is about: "50 jobs, newest first". */
  readonly children?: ComponentChildren;
  readonly param?: string;
  readonly next?: string;
}

export function Pager({ nextCursor, children, param = "cursor", next = "Older" }: PagerProps) {
  const { path, params } = usePlace();
  const isLater = (params[param] ?? "") !== "";
  if (!isLater && nextCursor === null && children === undefined) return null;
  return (
    <nav class="pager" aria-label="Pages of this list">
      <span>{children}</span>
      <span class="sp" />
      {isLater && <a href={href(path, { ...params, [param]: null })}>From the beginning</a>}
      {nextCursor !== null && <a href={href(path, { ...params, [param]: nextCursor })}>{next} →</a>}
    </nav>
  );
}
