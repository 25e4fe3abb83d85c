/** Which environment, what to find, is it live, which store, who is here. */
import { useCell } from "../state/cell.ts";
import { environment, loginPlace } from "../state/environment.ts";
import { useLive, type Live } from "../state/live.ts";
import { logOut, useMe } from "../state/session.ts";
import { setTheme, theme, type Theme } from "../state/theme.ts";
import { isFrozen } from "../state/visible.ts";
import { SearchBox } from "./search-box.tsx";

const WORDS: Readonly<Record<Live["state"], { readonly text: string; readonly tone: string }>> = {
  connecting: { text: "connecting", tone: "sub" },
  live: { text: "live", tone: "ok" },
  polling: { text: "every 4 s", tone: "ok" },
  hidden: { text: "resting", tone: "sub" },
  frozen: { text: "frozen", tone: "warn" },
  unreachable: { text: "no answer", tone: "bad" },
};

const NEXT: Readonly<Record<Theme, Theme>> = { system: "dark", dark: "light", light: "system" };

export function Header() {
  const me = useMe();
  const { state, overview, isStoreAway } = useLive();
  const shade = useCell(theme);
  const frozen = useCell(isFrozen);
  const { text, tone } = WORDS[state];
  return (
    <header class="top">
      {environment && (
        <span class="env cut" title={environment.name}>
          {environment.name}
        </span>
      )}
      <SearchBox />
      <span class="sp" />
      <button
        type="button"
        class="link fact"
        aria-pressed={frozen}
        title={frozen ? "Go on (f)" : "Freeze everything (f)"}
        onClick={() => isFrozen.set(!frozen)}
      >
        <span class={`dot ${tone}`} />
        {text}
      </button>
      {overview && (
        <span class={`fact wide ${isStoreAway ? "bad" : ""}`}>
          {overview.store.name} · {isStoreAway ? "away" : `${overview.store.latencyMs} ms`}
        </span>
      )}
      <span class="fact wide who" title={me.by}>
        <span class="cut">{me.by}</span> · {me.isReadOnly ? "read only" : me.role}
      </span>
      <button
        type="button"
        class="link"
        onClick={() => setTheme(NEXT[shade])}
        title="Light or dark"
      >
        {shade === "system" ? "theme" : shade}
      </button>
      {(me.via === "session" || loginPlace?.logoutUrl !== undefined) && (
        <button type="button" class="link" onClick={() => void logOut()}>
          Log out
        </button>
      )}
    </header>
  );
}
