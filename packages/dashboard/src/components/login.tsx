/** A token is exchanged for a session that scripts cannot read. */
import { useState } from "preact/hooks";
import { environment } from "../state/environment.ts";
import { logIn } from "../state/session.ts";

export function Login({ message }: { message: string | null }) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isAsking, setAsking] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    const given = token.trim();
    if (given === "" || isAsking) return;
    setAsking(true);
    setProblem(await logIn(given));
    setAsking(false);
  };
  return (
    <main class="login">
      <form onSubmit={(event) => void submit(event)}>
        <div class="row">
          <h1>Holdfast</h1>
          {environment && <span class="env cut">{environment.name}</span>}
        </div>
        {message !== null && <p class="soft">{message}</p>}
        <label class="field">
          Token
          <input
            class="in mono"
            type="password"
            name="token"
            autocomplete="current-password"
            autofocus
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
          <span class="hint">
            The server printed one at its first start; an admin makes more: holdfast tokens create.
          </span>
        </label>
        {problem !== null && (
          <p class="error" role="alert">
            {problem}
          </p>
        )}
        <div>
          <button type="submit" class="btn p" disabled={isAsking}>
            Log in
          </button>
        </div>
      </form>
    </main>
  );
}
