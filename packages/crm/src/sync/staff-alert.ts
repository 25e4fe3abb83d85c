/** System 4's `integration_error`: what staff are told when jobs of a sync die, or when it is paused. */
import type { Alert, Notifier } from "holdfast";

export interface StaffAlert {
  readonly type: "integration_error";
  /** Of the sync. */
  readonly integration: string;
  readonly id: string;
  readonly at: Date;
  readonly message: string;
  /** The newest; all of them are in `jobIds`, the first thousand. */
  readonly jobId: string | null;
  readonly jobIds: readonly string[];
  readonly count: number;
  readonly operation: string;
  readonly retries: number;
  readonly error: string;
  readonly guidance: string;
  readonly missingScopes: readonly string[];
  /** Where missing scopes are granted; null for other errors. */
  readonly link: string | null;
}

export const GUIDANCE =
  "Manual intervention may be required: read the error, put its cause right, then retry the jobs.";

/** Null: it is about something else. */
export function staffAlert(
  alert: Alert,
  sync: { readonly name: string; readonly queue: string },
): StaffAlert | null {
  if (alert.kind !== "dead" && alert.kind !== "unrecoverable") return null;
  if (alert.queue !== sync.queue) return null;
  const operation = operationOf(alert.type, sync.name);
  const missingScopes = scopesOf(alert.error);
  const isScopes = missingScopes.length > 0 || /MISSING_SCOPES/.test(alert.error);
  return {
    ...{ type: "integration_error", integration: sync.name, id: alert.id, at: alert.at },
    ...{ operation, error: alert.error, count: alert.count, missingScopes },
    ...{ jobIds: alert.ids, jobId: alert.ids.at(-1) ?? null },
    retries: Math.max(0, alert.attempts - 1),
    guidance: alert.guidance ?? GUIDANCE,
    link: isScopes ? alert.link : null,
    message: `${alert.count} ${operation} of ${sync.name} died: ${alert.error}`,
  };
}

/** For `alerts: { notify: [… ] }` of a Holdfast. */
export function notifierOf(
  sync: { readonly name: string; readonly queue: string },
  tell: (alert: StaffAlert) => unknown,
): Notifier {
  return async (alert) => {
    const told = staffAlert(alert, sync);
    if (told !== null) await tell(told);
  };
}

export function operationOf(type: string, name: string): string {
  return type.startsWith(`${name}.`) ? type.slice(name.length + 1) : type;
}

function scopesOf(error: string): string[] {
  const listed = /\[missing scopes: ([^\]]*)\]/.exec(error)?.[1] ?? "";
  return listed.split(", ").filter((scope) => scope !== "");
}
