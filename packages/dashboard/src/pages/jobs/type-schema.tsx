/** What a type says of its payloads. */
import type { JobType } from "../../api/types.ts";
import { printExact } from "../../text/exact-json.ts";

export function TypeSchema({ type }: { type: JobType }) {
  if (type.schema === null) {
    return (
      <p>
        {type.hasSchema
          ? "Its payload is checked by its schema, which cannot be shown."
          : "Its payload is not checked: its type has no schema."}
      </p>
    );
  }
  return (
    <details>
      <summary>Its payload is checked by its schema</summary>
      <pre>{printExact(type.schema)}</pre>
    </details>
  );
}
