import { Login } from "./components/login.tsx";
import { Shell } from "./components/shell.tsx";
import { Failed } from "./components/states.tsx";
import { useCell } from "./state/cell.ts";
import { loginPlace } from "./state/environment.ts";
import { findSession, session } from "./state/session.ts";

export function App() {
  const now = useCell(session);
  if (now.kind === "asking") return null;
  if (now.kind === "out" && loginPlace) {
    location.assign(loginPlace.url);
    return null;
  }
  if (now.kind === "out") return <Login message={now.message} />;
  if (now.kind === "unreachable") {
    return <Failed error={new Error(now.message)} retry={() => void findSession()} />;
  }
  return <Shell />;
}
