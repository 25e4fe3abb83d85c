/**
 * On whose behalf the running code acts. A server that has checked a caller says so once, and every audit
 * entry that follows names that caller, whatever the call itself was told.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { checkObject, refuseUnknown } from "../../core/option-checks.ts";
import { cleanText } from "../../core/text.ts";

export interface Actor {
  /** Whom audit entries name. */
  readonly by: string;
  /** What else they say of the caller: address, role, token. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

const storage = new AsyncLocalStorage<Actor>();

export function actingAs<Out>(actor: Actor, body: () => Out): Out {
  checkObject("the actor", actor);
  refuseUnknown("the actor", actor, ["by", "details"]);
  return storage.run({ ...actor, by: cleanText(actor.by, 200) }, body);
}

export function currentActor(): Actor | null {
  return storage.getStore() ?? null;
}
