/** Who calls, and what that caller may do. */
import { HttpError } from "../http/http-error.ts";

export const ROLES = ["viewer", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];

export interface Caller {
  /** Whom the audit names: `token k3… (laptop)`, `user ada`. */
  readonly by: string;
  readonly role: Role;
  /** The queues it may see; null: all. */
  readonly queues: ReadonlySet<string> | null;
  /** Equal for all requests of one caller: limits count by it. */
  readonly key: string;
  /** How it proved itself. */
  readonly via: "token" | "session" | "jwt" | "function" | "anonymous";
  readonly tokenId: string | null;
  /** For how long this is known of somebody who stays; null: it is looked up again meanwhile. */
  readonly goodForMs: number | null;
}

export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

export function isRole(value: unknown): value is Role {
  return ROLES.includes(value as Role);
}

export function needRole(caller: Caller, needed: Role, what = "this"): void {
  if (isAtLeast(caller.role, needed)) return;
  throw new HttpError(
    403,
    "forbidden",
    `${what} needs the role ${needed}; yours is ${caller.role}`,
    {
      extra: { needs: needed, role: caller.role },
    },
  );
}

export function sees(caller: Caller, queue: string | null | undefined): boolean {
  return caller.queues === null || (typeof queue === "string" && caller.queues.has(queue));
}
