/** Who calls, as a JSON Web Token says it. The role's words are Holdfast's, so its server takes the same token. */
import { z } from "zod";

export const ROLES = ["viewer", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];

export interface Identity {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  /** `operator` is staff. */
  readonly role: Role;
  /** The only company this user may see; null: staff of all. */
  readonly companyId: string | null;
}

/** What a guard leaves on a request. */
export interface IdentifiedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly params: Readonly<Record<string, string>>;
  identity?: Identity;
}

export const claims = z.object({
  sub: z.string().min(1),
  email: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  companyId: z.string().nullable().default(null),
});

export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** A company of its own, or staff of all. */
export function maySee({ companyId }: Identity, company: string | null): boolean {
  return companyId === null || companyId === company;
}
