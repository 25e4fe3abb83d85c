/** Who is here, and what they may do. What a role may not do is not drawn. */
import { api, sessionOver } from "../api/client.ts";
import { ApiError } from "../api/api-error.ts";
import type { Me, Role } from "../api/types.ts";
import { cell, useCell } from "./cell.ts";
import { loginPlace } from "./environment.ts";
import { question } from "./questions.ts";
import { tellError } from "./toasts.ts";

export type Session =
  | { readonly kind: "asking" }
  | { readonly kind: "out"; readonly message: string | null }
  | { readonly kind: "unreachable"; readonly message: string }
  | { readonly kind: "in"; readonly me: Me };

export const session = cell<Session>({ kind: "asking" });

const ROLES: readonly Role[] = ["viewer", "operator", "admin"];

export async function findSession(): Promise<void> {
  try {
    const me = await api.me();
    sessionOver.set(false);
    session.set({ kind: "in", me });
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status === 401;
    session.set(
      isRefused
        ? { kind: "out", message: null }
        : { kind: "unreachable", message: (error as Error).message },
    );
  }
}

/** Null: it worked. Otherwise why not. */
export async function logIn(token: string): Promise<string | null> {
  try {
    await api.login(token);
    await findSession();
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) return "Something went wrong.";
    if (error.status === 401) return "This token is not known here, or has expired.";
    return error.message;
  }
}

export async function logOut(): Promise<void> {
  try {
    await api.logout();
  } catch (error) {
    const isOut = error instanceof ApiError && error.status === 401;
    // Its cookie lets in whoever comes next: nobody is told that it is over while it is not.
    if (!isOut && !loginPlace) return tellError(error);
  }
  // Once it is said to be out, the page goes to the login by itself, and would not get to the logout.
  if (loginPlace) location.assign(loginPlace.logoutUrl ?? loginPlace.url);
  else session.set({ kind: "out", message: "You are logged out." });
}

sessionOver.listen(() => {
  if (!sessionOver.get() || session.get().kind !== "in") return;
  session.set({ kind: "out", message: "Your session is over, or its token was removed." });
});

// A question that one user was asked is not answered by the next.
session.listen(() => {
  if (session.get().kind !== "in") question.get()?.answer(null);
});

/** Only where there is a session: everything but the login. */
export function useMe(): Me {
  const now = useCell(session);
  if (now.kind !== "in") throw new Error("there is no session");
  return now.me;
}

export function may(me: Me, role: Role): boolean {
  if (role !== "viewer" && me.isReadOnly) return false;
  return ROLES.indexOf(me.role) >= ROLES.indexOf(role);
}

export function useMay(role: Role): boolean {
  return may(useMe(), role);
}
