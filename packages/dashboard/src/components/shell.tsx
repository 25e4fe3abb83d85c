/** What is around every page: pages, header, notices, keys, dialogs. */
import { useEffect, useRef } from "preact/hooks";
import { findPage, isMounted, shownPages } from "../pages/pages.ts";
import { useNow } from "../state/clock.ts";
import { showTitle } from "../state/environment.ts";
import { useKeys } from "../state/keys.ts";
import { startLive, stopLive, useLive } from "../state/live.ts";
import { go, usePlace } from "../state/router.ts";
import { may, useMe } from "../state/session.ts";
import { isFrozen } from "../state/visible.ts";
import { duration } from "../text/times.ts";
import { Header } from "./header.tsx";
import { KeysDialog } from "./keys-dialog.tsx";
import { Nav } from "./nav.tsx";
import { QuestionDialog } from "./question-dialog.tsx";
import { Empty } from "./states.tsx";
import { Toasts } from "./toasts.tsx";

export function Shell() {
  const me = useMe();
  const place = usePlace();
  const main = useRef<HTMLElement>(null);
  const page = findPage(place.path);
  const title = page?.title ?? "Not found";
  const [, thing] = place.path;
  useEffect(() => {
    startLive();
    return stopLive;
  }, []);
  useEffect(() => {
    showTitle(thing === undefined ? title : `${thing} · ${title}`);
    scrollTo(0, 0);
  }, [title, thing]);
  useKeys(
    [
      ...shownPages(me).map(({ path, title: name, key }) => ({
        ...{ keys: `g ${key}`, does: `Go to ${name}`, run: () => go(`#/${path}`) },
      })),
      { keys: "f", does: "Freeze everything, and go on", run: () => isFrozen.set(!isFrozen.get()) },
    ],
    [me],
  );
  const isAllowed = page !== null && may({ ...me, isReadOnly: false }, page.role);
  const isForAll = page?.isWhole === true && me.queues !== null;
  return (
    <div class="app">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        To the content
      </a>
      <Nav />
      <div class="side">
        <Header />
        <Notices />
        <main id="main" ref={main} tabIndex={-1}>
          {page === null ? (
            <Empty title="There is no such page.">
              <a href="#/overview">To the overview</a>
            </Empty>
          ) : isForAll ? (
            <Empty title="This page is about every queue.">
              Your token is for {me.queues?.join(", ")}.
            </Empty>
          ) : !isMounted(page, me) ? (
            <Empty title={`This server has no ${page.title.toLowerCase()}.`}>
              They are mounted where the server is made, and seen by tokens of their queue.
            </Empty>
          ) : isAllowed ? (
            <page.component key={place.path.join("/")} path={place.path.slice(1)} />
          ) : (
            <Empty title={`This page takes the role ${page.role}.`}>Yours is {me.role}.</Empty>
          )}
        </main>
      </div>
      <QuestionDialog />
      <KeysDialog />
      <Toasts />
    </div>
  );
}

/** Old numbers are marked as old. */
function Notices() {
  const { state, isStoreAway, overview } = useLive();
  const now = useNow();
  if (overview === null) return null;
  const old = duration(now - Date.parse(overview.at));
  if (isStoreAway) {
    return (
      <div class="notice bad" role="alert">
        The store is away. These numbers are {old} old. Jobs that were acknowledged are not lost.
      </div>
    );
  }
  if (state === "unreachable") {
    return (
      <div class="notice bad" role="alert">
        The server does not answer. These numbers are {old} old.
      </div>
    );
  }
  if (state !== "frozen") return null;
  return (
    <div class="notice" role="status">
      Frozen: nothing here changes, and nothing is asked for, until you press <kbd>f</kbd> again.
    </div>
  );
}
