/** Trouble on demand: what the next requests meet, as a test says. */

interface Matching {
  /** Only requests of this method … */
  readonly method?: string | undefined;
  /** … and whose path has this text, or fits this expression. */
  readonly path?: string | RegExp | undefined;
  /** How many requests it meets. Default 1. */
  readonly times?: number | undefined;
  /** So many pass unharmed first. */
  readonly after?: number | undefined;
}

export type Fault = Matching &
  (
    | {
        /** A 429 in front of everything else. */
        readonly kind: "rate_limit";
        readonly retryAfterS?: number | undefined;
        /** Default `TEN_SECONDLY_ROLLING`. */
        readonly policy?: "TEN_SECONDLY_ROLLING" | "SECONDLY" | "DAILY" | undefined;
      }
    /** An error without or with the work done. Default `before`. */
    | {
        readonly kind: "status";
        readonly status: number;
        readonly when?: "before" | "after" | undefined;
      }
    /** The connection breaks. Default `before`. */
    | { readonly kind: "reset"; readonly when?: "before" | "after" | undefined }
    /** The answer comes late. */
    | { readonly kind: "slow"; readonly ms: number }
    /** A page instead of JSON, as gateways answer. */
    | { readonly kind: "not_json"; readonly status?: number | undefined }
    /** A 207: these inputs of a batch fail, the others are done. */
    | { readonly kind: "partial"; readonly inputs: readonly number[] }
    | { readonly kind: "unauthorized" }
    | { readonly kind: "missing_scopes"; readonly scopes: readonly string[] }
  );

export class Faults {
  #planned: { readonly fault: Fault; left: number; skip: number }[] = [];

  /** They meet requests in the order in which they were added. */
  add(...faults: readonly Fault[]): void {
    for (const fault of faults) {
      this.#planned.push({ fault, left: fault.times ?? 1, skip: fault.after ?? 0 });
    }
  }

  clear(): void {
    this.#planned = [];
  }

  /** How many are left to come; those without an end aside. */
  get left(): number {
    return this.#planned.reduce((sum, { left }) => sum + (left === Infinity ? 0 : left), 0);
  }

  /** What this request meets. */
  take(request: { readonly method: string; readonly path: string }): Fault | null {
    for (const planned of this.#planned) {
      if (!isMet(planned.fault, request)) continue;
      if (planned.skip > 0) {
        planned.skip -= 1;
        continue;
      }
      planned.left -= 1;
      if (planned.left <= 0) this.#planned = this.#planned.filter((one) => one !== planned);
      return planned.fault;
    }
    return null;
  }
}

function isMet(
  { method, path }: Matching,
  request: { readonly method: string; readonly path: string },
): boolean {
  if (method !== undefined && method !== request.method) return false;
  if (path === undefined) return true;
  return typeof path === "string" ? request.path.includes(path) : path.test(request.path);
}
