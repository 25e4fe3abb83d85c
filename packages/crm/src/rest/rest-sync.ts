/** A second target on the same sync: any JSON API that takes PUT and DELETE. */
import { defineSync, type SyncDefinition, type SyncOptions } from "../sync/define-sync.ts";
import type { OperationsOf, SyncOperation } from "../sync/operation.ts";
import { shape, text, type Field } from "../sync/shape.ts";
import { RestClient, type RestClientOptions } from "./rest-client.ts";

const anything: Field<unknown> = {
  check: (value) => (value === undefined ? "must be there" : null),
};
const target = { resource: text({ max: 200 }), id: text({ max: 200 }) };
const saved = shape({ ...target, body: anything });
const removed = shape(target);

export interface RestTarget {
  readonly resource: string;
  readonly id: string;
}

export interface RestPayloads {
  readonly save: RestTarget & { readonly body: unknown };
  readonly remove: RestTarget;
}
export type RestOperations = OperationsOf<RestPayloads, RestClient>;

const recordOf = ({ resource, id }: RestTarget) => `${resource}:${id}`;

export type RestSyncOptions = Omit<RestClientOptions, "calls"> &
  Pick<SyncOptions<RestClient, RestOperations>, "name" | "queue" | "retry" | "limits" | "cycles"> &
  Pick<SyncOptions<RestClient, RestOperations>, "onAuthError" | "onPause" | "keepDeadMs">;

export function restSync(options: RestSyncOptions): SyncDefinition<RestOperations> {
  const { baseUrl, token, headers, timeoutMs, ...sync } = options;
  const made = { baseUrl, token, headers, timeoutMs };
  void new RestClient(made);
  const operations: RestOperations = {
    save: {
      payload: saved as SyncOperation<
        RestTarget & { readonly body: unknown },
        RestClient
      >["payload"],
      record: recordOf,
      writes: () => ["body"],
      load: () =>
        Promise.resolve({
          run: ({ payload, client, signal }) =>
            client.put(payload.resource, payload.id, payload.body, signal),
        }),
    },
    remove: {
      payload: removed,
      record: recordOf,
      writes: () => ["body"],
      load: () =>
        Promise.resolve({
          run: ({ payload, client, signal }) => client.remove(payload.resource, payload.id, signal),
        }),
    },
  };
  return defineSync<RestClient, RestPayloads>({
    ...sync,
    operations,
    client: (calls) => new RestClient({ ...made, calls }),
  });
}
