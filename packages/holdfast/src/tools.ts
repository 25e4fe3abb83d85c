/**
 * What a server, a command line or another tool needs of a Holdfast besides its verbs: to act on behalf of a
 * caller, to hide what that caller must not read, to know what this process knows.
 */
import { jsonSchemaOf } from "./core/json-schema-of.ts";
import type { AuditBody } from "./core/ledger.ts";
import type { Records } from "./core/records.ts";
import type { Redactor } from "./core/redact.ts";
import { checkWhy, type WhyOptions } from "./core/why-options.ts";
import type { Engine } from "./engine/create-engine.ts";
import type { Logger } from "./engine/logger.ts";
import { actingAs, type Actor } from "./engine/operate/acting.ts";
import type { Definition } from "./engine/registry.ts";

export type { Actor } from "./engine/operate/acting.ts";

/** A type that this process knows by its contract. */
export interface KnownType {
  readonly type: string;
  readonly queue: string;
  /** It has a handler here. */
  readonly isHandled: boolean;
  /** Its payloads are checked when they are enqueued. */
  readonly hasSchema: boolean;
  readonly maxAttempts: number;
  readonly timeoutMs: number | null;
  readonly priority: number;
  readonly dedupe: "payload" | null;
  readonly tags: readonly string[];
}

export interface AuditNote extends WhyOptions {
  /** A verb and what it was done to: `create token`. */
  readonly action: string;
  readonly details?: AuditBody["details"] | undefined;
  readonly jobId?: string | undefined;
  readonly type?: string | undefined;
  readonly queue?: string | undefined;
  readonly group?: string | undefined;
  /** Default `done`. */
  readonly state?: "done" | "refused" | undefined;
}

export interface Tools {
  /** A round trip to the store: its clock. Throws where the store does not answer. */
  ping(): Promise<Date>;
  /** Audit entries of whatever `body` does name this actor. */
  as<Out>(actor: Actor, body: () => Out): Out;
  /** Adds an entry to the audit, where there is a ledger. */
  audit(note: AuditNote): Promise<void>;
  /** As the options of this Holdfast say. */
  readonly redact: Pick<Redactor, "value" | "text">;
  /** Records in the ledger's store; in the jobs' own where there is no other. */
  readonly ledgerRecords: Records;
  /** The contracts that this process knows. */
  types(): readonly KnownType[];
  /** Null if this process does not know it. */
  type(name: string): KnownType | null;
  /**
   * Where jobs of a type wait, if that is not the queue of its contract alone: a worker that names no queues takes
   * these. None: it takes no job of that type.
   */
  setPlaces(type: string, queues: readonly string[]): void;
  /** The queues that a worker takes which names none. */
  workQueues(): readonly string[];
  /** What payloads of a type look like, as JSON Schema; null where that cannot be had. */
  payloadSchema(name: string): object | null;
  readonly maxPayloadBytes: number;
  readonly logger: Logger;
}

export function toolsOf(
  engine: Engine,
  { ready, maxPayloadBytes }: { ready: () => Promise<void>; maxPayloadBytes: number },
): Tools {
  const { host, ledgerWriter, registry, logger } = engine;
  const records = async <Out>(call: (records: Records) => Promise<Out>) => {
    if (ledgerWriter.home !== "elsewhere") await ready();
    return ledgerWriter.askRecords(call);
  };
  return {
    ...{ maxPayloadBytes, logger, redact: host.redactor, as: actingAs },
    async ping() {
      await ready();
      return new Date(await host.jobs.now());
    },
    async audit({ action, details = {}, by, reason, ...about }) {
      await ready();
      await host.audit({ action, ...checkWhy("audit", { by, reason }), details }, definedOf(about));
    },
    ledgerRecords: {
      read: (keys) => records((room) => room.read(keys)),
      swap: (swaps) => records((room) => room.swap(swaps)),
      scan: (request) => records((room) => room.scan(request)),
    },
    types: () => registry.all().map(knownType),
    type: (name) => {
      const found = registry.get(name);
      return found ? knownType(found) : null;
    },
    setPlaces: (type, queues) => registry.setPlaces(type, queues),
    workQueues: () => registry.handledQueues(),
    payloadSchema: (name) => {
      const payload = registry.get(name)?.contract.payload ?? null;
      return payload === null ? null : jsonSchemaOf(payload);
    },
  };
}

function knownType({ contract, handler }: Definition): KnownType {
  const { type, queue, payload, retry, timeoutMs, priority, dedupe, tags } = contract;
  return {
    ...{ type, queue, isHandled: handler !== null, hasSchema: payload !== null },
    ...{ maxAttempts: retry.maxAttempts, timeoutMs, priority, dedupe, tags },
  };
}

/** A part that is undefined is not there. */
function definedOf(
  about: Omit<AuditNote, "action" | "details" | "by" | "reason">,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(about).filter((part): part is [string, string] => part[1] !== undefined),
  );
}
