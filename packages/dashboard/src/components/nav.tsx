/** All pages, with the numbers that say where to look. */
import { useEffect, useRef } from "preact/hooks";
import { useLive } from "../state/live.ts";
import { useMe } from "../state/session.ts";
import { usePlace } from "../state/router.ts";
import { shownPages } from "../pages/pages.ts";

export function Nav() {
  const me = useMe();
  const { overview } = useLive();
  const { path } = usePlace();
  const current = path[0] ?? "overview";
  const nav = useRef<HTMLElement>(null);
  // On a phone it is one line, most of which is not on the screen.
  useEffect(() => {
    const link = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (!nav.current || !link) return;
    nav.current.scrollLeft = link.offsetLeft - (nav.current.clientWidth - link.offsetWidth) / 2;
  }, [current]);
  return (
    <nav class="nav" aria-label="Pages" ref={nav}>
      <a class="brand" href="#/overview" aria-label="Holdfast: overview">
        <span class="row">
          <i />
          <span>Holdfast</span>
        </span>
      </a>
      {shownPages(me).map(({ path: own, title, count, isSecond }, at, all) => {
        const shown = overview && count ? count(overview) : null;
        const isFirstOfSecond = isSecond === true && all[at - 1]?.isSecond !== true;
        return (
          <>
            {isFirstOfSecond && <hr />}
            <a key={own} href={`#/${own}`} aria-current={own === current ? "page" : undefined}>
              {title}
              {shown !== null && <span class={`n ${shown.tone ?? ""}`}>{shown.text}</span>}
            </a>
          </>
        );
      })}
    </nav>
  );
}
