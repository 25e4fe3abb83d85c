/**
 * Holdfast's server at the application's own root: the dashboard at `/`, the API, metrics, and the endpoints of the
 * systems that people come from. Its callers are the back office's users.
 */
import type { DynamicModule, InjectionToken, Type } from "@nestjs/common";
import { HoldfastServerModule } from "@holdfast/nestjs/server";
import type { KnownUser } from "@holdfast/server";
import { classic } from "@holdfast/server/classic";
import { Identify } from "../auth/guards.ts";
import type { Identity } from "../auth/identity.ts";
import type { Settings } from "../config/settings.ts";

/** Of the server itself, and of `classic`. */
const PATHS = [
  ...["", "assets", "healthz", "readyz", "metrics", "api/openapi.json", "api/docs", "api/docs.css"],
  ...["api/v1", "api/admin", "api/queue", "queue"],
];

export interface ServerParts {
  readonly settings: Settings;
  /** Routes of batteries: a module that exports the mount, and the paths that it answers. */
  readonly batteries?: readonly {
    readonly module: Type<unknown>;
    readonly mount: InjectionToken;
    readonly paths: readonly string[];
  }[];
}

export function serverModule({ settings, batteries = [] }: ServerParts): DynamicModule {
  const { queue, retentionDays, isResilient } = settings;
  return HoldfastServerModule.forRoot({
    paths: [...PATHS, ...batteries.flatMap(({ paths }) => paths)],
    imports: batteries.map(({ module }) => module),
    mountsFrom: batteries.map(({ mount }) => mount),
    guards: [Identify],
    user: ({ identity }) => knownUser(identity as Identity | undefined),
    login: { url: "/login", logoutUrl: "/logout" },
    mounts: [classic({ queue, retentionDays, resilientMode: isResilient })],
  });
}

/** Jobs are of all companies: who belongs to one sees no queue. */
function knownUser(identity: Identity | undefined): KnownUser | null {
  if (!identity) return null;
  const { email, role, companyId } = identity;
  return { name: email, role, ...(companyId !== null && { queues: [] }) };
}
