/**
 * Notes what callers did and what they were refused. What the library's verbs note by themselves is not noted
 * again. Enqueues and refusals come in floods: the first of a minute is noted at once, those after it as one
 * entry with their number. Who is not known costs nothing to be: past so many addresses the others are one.
 */
import type { AuditNote, Holdfast, Logger } from "holdfast";
import type { Caller } from "./auth/caller.ts";
import { addressKey } from "./http/client-address.ts";

const GATHER_MS = 60_000;
const MOST_GATHERED = 1_000;
const MOST_STRANGERS = 100;
const MANY: Who = { caller: null, address: "many addresses" };

export interface Who {
  /** Null: not known. */
  readonly caller: Caller | null;
  readonly address: string;
}

interface Gathered {
  readonly who: Who;
  readonly note: AuditNote;
  count: number;
  readonly timer: NodeJS.Timeout;
}

export class AuditDesk {
  readonly #hf: Holdfast;
  readonly #logger: Logger;
  readonly #gathered = new Map<string, Gathered>();
  readonly #onTheirWay = new Set<Promise<void>>();
  #strangers = 0;

  constructor(hf: Holdfast, logger: Logger) {
    this.#hf = hf;
    this.#logger = logger;
  }

  /** Everything the library notes inside names this caller. */
  as<Out>(who: Who, what: string, body: () => Out): Out {
    return this.#hf.tools.as({ by: nameOf(who), details: { ...detailsOf(who), http: what } }, body);
  }

  /** Resolves when it is written; the write it is about has happened, so nothing is thrown. */
  async note(who: Who, note: AuditNote): Promise<void> {
    try {
      const body = () => this.#hf.tools.audit(note);
      await this.#hf.tools.as({ by: nameOf(who), details: detailsOf(who) }, body);
    } catch (error) {
      this.#logger.error("an audit entry could not be written", { error, action: note.action });
    }
  }

  /** In the background: a refused caller does not wait for it. */
  gather(who: Who, note: AuditNote, count = 1): void {
    const isStranger = who.caller === null;
    const of = who.caller?.key ?? addressKey(who.address);
    const key = `${of} ${note.action} ${note.state ?? "done"}`;
    const known = this.#gathered.get(key);
    if (known) {
      known.count += count;
      return;
    }
    if (isStranger && who !== MANY && this.#strangers >= MOST_STRANGERS) {
      this.gather(MANY, note, count);
      return;
    }
    if (this.#gathered.size >= MOST_GATHERED) this.#flushOldest();
    const timer = setTimeout(() => this.#flush(key), GATHER_MS);
    timer.unref();
    this.#gathered.set(key, { who, note, count: 0, timer });
    if (isStranger) this.#strangers += 1;
    this.#send(who, note, count);
  }

  async close(): Promise<void> {
    for (const key of [...this.#gathered.keys()]) this.#flush(key);
    await Promise.all(this.#onTheirWay);
  }

  #flushOldest(): void {
    const { value: first } = this.#gathered.keys().next();
    if (first !== undefined) this.#flush(first);
  }

  #flush(key: string): void {
    const gathered = this.#gathered.get(key);
    if (!gathered) return;
    clearTimeout(gathered.timer);
    this.#gathered.delete(key);
    if (gathered.who.caller === null) this.#strangers -= 1;
    if (gathered.count > 0) this.#send(gathered.who, gathered.note, gathered.count);
  }

  #send(who: Who, note: AuditNote, count: number): void {
    const details = { ...note.details, ...(count > 1 && { count }) };
    const sending = this.note(who, { ...note, details }).finally(() => {
      this.#onTheirWay.delete(sending);
    });
    this.#onTheirWay.add(sending);
  }
}

function nameOf({ caller, address }: Who): string {
  return caller?.by ?? `unknown at ${address || "an unknown address"}`;
}

function detailsOf({ caller, address }: Who): Record<string, unknown> {
  return {
    ...(address !== "" && { address }),
    ...(caller && { role: caller.role, via: caller.via }),
    ...(caller?.tokenId && { token: caller.tokenId }),
  };
}
