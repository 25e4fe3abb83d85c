/**
 * What newer versions of the library have. The server goes with older ones, too: there these routes say what is
 * missing, and everything else works.
 */
import type { Holdfast } from "holdfast";
import { HttpError } from "../http/http-error.ts";

interface Why {
  readonly by?: string;
  readonly reason?: string;
}

interface Named {
  readonly queue?: string | null;
}

export interface Features {
  readonly locks: {
    list(query: object): Promise<{ locks: readonly (Named & object)[]; nextCursor: string | null }>;
    release(id: string, why: Why): Promise<void>;
  };
  readonly schedules: {
    list(query: object): Promise<readonly { name: string; job: { queue: string } }[]>;
    get(name: string): Promise<{ job: { queue: string } }>;
    runs(
      name: string,
      query: object,
    ): Promise<{ runs: readonly object[]; nextCursor: string | null }>;
    runNow(name: string, why: Why): Promise<{ readonly id: string }>;
    pause(name: string, why: Why): Promise<void>;
    resume(name: string, why: Why): Promise<void>;
    set(name: string, options: object, why: Why): Promise<void>;
    remove(name: string, why: Why): Promise<void>;
    preview(rule: object): Promise<readonly Date[]>;
  };
  readonly gates: {
    list(): Promise<readonly GateSeen[]>;
    set(name: string, options: object, why: Why): Promise<void>;
    force(name: string, state: string, why: Why): Promise<void>;
    remove(name: string, why: Why): Promise<boolean>;
  };
  readonly alerts: {
    list(query: object): Promise<{ alerts: readonly AlertSeen[]; nextCursor: string | null }>;
  };
  stats(query: object): Promise<object>;
  why(id: string): Promise<object>;
  erase(target: { readonly group: string }, why: Why): Promise<{ readonly id: string }>;
}

export interface GateSeen {
  readonly name: string;
  readonly state: string;
  readonly tokens: number | null;
  readonly cooldownUntil: Date | null;
}

export interface AlertSeen {
  readonly id: string;
  readonly kind: string;
  readonly queue?: string;
}

/** Null: this Holdfast does not have it. */
export function featureOf<Name extends keyof Features>(
  hf: Holdfast,
  name: Name,
): Features[Name] | null {
  const found: unknown = (hf as unknown as Partial<Features>)[name];
  if (found === undefined) return null;
  return (typeof found === "function" ? (found.bind(hf) as unknown) : found) as Features[Name];
}

export function needFeature<Name extends keyof Features>(hf: Holdfast, name: Name): Features[Name] {
  const found = featureOf(hf, name);
  if (found !== null) return found;
  throw new HttpError(501, "unsupported", `this version of holdfast has no ${name}: update it`);
}
