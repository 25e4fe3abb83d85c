/** The server, by its shape: it is a package of its own, and may not be installed. */
import type { Holdfast } from "holdfast";
import type { SettingValues } from "holdfast/env";
import { loadPart } from "./load-part.ts";

export interface TokensLike {
  list(): Promise<
    readonly {
      readonly id: string;
      readonly hash: string;
      readonly name: string;
      readonly role: string;
      readonly queues: readonly string[] | null;
      readonly createdAt: string;
      readonly createdBy: string;
      readonly expiresAt: string | null;
    }[]
  >;
  create(given: {
    readonly role: string;
    readonly queues: readonly string[] | null;
    readonly name: string;
    readonly createdBy: string;
    readonly expiresAt: Date | null;
  }): Promise<{ readonly token: { readonly id: string }; readonly secret: string }>;
  /** False: there was none. */
  remove(id: string): Promise<boolean>;
}

export interface ServerModule {
  readonly Tokens: new (records: unknown, now: () => number) => TokensLike;
  createServer(
    hf: Holdfast,
    options: Readonly<Record<string, unknown>>,
  ): {
    listen(options: {
      readonly port?: number;
      readonly host?: string;
    }): Promise<{ readonly url: string }>;
    close(): Promise<void>;
  };
}

export const SERVER = "@holdfast/server";

/** The endpoints of the systems that people come from, set as their own variables say. */
export async function classicMount(values: SettingValues): Promise<unknown> {
  type Module = { classic(options: Readonly<Record<string, unknown>>): unknown };
  const module = await loadPart<Module>(`${SERVER}/classic`);
  const { queues, classicAnonymous, deadRetentionDays, resilient } = values;
  return module.classic({
    ...(queues !== undefined && { queue: queues[0] }),
    ...(classicAnonymous !== undefined && { anonymous: classicAnonymous }),
    ...(deadRetentionDays !== undefined && { retentionDays: deadRetentionDays }),
    ...(resilient !== undefined && { resilientMode: resilient }),
  });
}

export function loadServer(): Promise<ServerModule> {
  return loadPart<ServerModule>(SERVER);
}
