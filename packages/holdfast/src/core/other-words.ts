/**
 * What other job systems call things. By spelling alone `connection` was near to `retention`, and `data` to
 * `meta`: advice that leads astray. So these words are known by their meaning.
 */

interface Meaning {
  /** Our words for it: the first that the call takes is meant. */
  readonly words: readonly string[];
  /** Where it is said instead, if the call takes none of them. */
  readonly instead?: string;
}

const RETRY = "how often and when a job is tried again is for retry of its contract to say";
const KEPT = "how long jobs are kept is for retention of new Holdfast to say";
const REPEATED = "hf.schedule(name, { cron, job }) makes jobs again and again";
const STORED = "the store says where: new Holdfast({ store }), or connect(url)";
const PAYLOAD = "what a job is given is its payload";

const tried: Meaning = { words: ["maxAttempts", "retry"], instead: RETRY };
const waited: Meaning = { words: ["baseMs", "retry"], instead: RETRY };
const kept: Meaning = { words: ["retention"], instead: KEPT };
const repeated: Meaning = { words: ["cron"], instead: REPEATED };
const stored: Meaning = { words: ["store", "url"], instead: STORED };
const given: Meaning = { words: ["payload"], instead: PAYLOAD };
const keyed: Meaning = { words: ["idempotencyKey", "dedupe"] };
const polled: Meaning = { words: ["pollMs"] };
const tenant: Meaning = { words: ["group"] };

const MEANINGS: Readonly<Record<string, Meaning>> = {
  ...{ attempts: tried, retries: tried, maxRetries: tried, retryLimit: tried },
  ...{ backoff: waited, retryDelay: waited, retryBackoff: waited, initialDelay: waited },
  maxDelayMs: { words: ["maxMs"] },
  ...{ removeOnComplete: kept, removeOnFail: kept, retentionDays: kept, deleteAfterSeconds: kept },
  ...{ repeat: repeated, pattern: repeated, cron: repeated },
  ...{ connection: stored, connectionString: stored, database: stored, redis: stored },
  ...{ data: given, input: given, schema: given },
  ...{ output: { words: ["result"] }, returnvalue: { words: ["result"] } },
  ...{ jobId: keyed, jobKey: keyed, singletonKey: keyed, deduplication: keyed, unique: keyed },
  singletonSeconds: { words: ["idempotencyTtlMs"] },
  startAfter: { words: ["delayMs", "startAfterMs"] },
  expireInSeconds: {
    words: ["timeoutMs"],
    instead: "how long an attempt may run is for timeoutMs of its contract to say",
  },
  ...{ tenant, tenantId: tenant, groupId: tenant },
  ...{ teamSize: { words: ["concurrency"] }, lockDuration: { words: ["leaseMs"] } },
  lockRenewTime: { words: ["renewMs"] },
  ...{ pollInterval: polled, pollingInterval: polled, pollingIntervalSeconds: polled },
  ...{ tz: { words: ["timeZone"] }, handler: { words: ["run"] }, processor: { words: ["run"] } },
  limiter: { words: ["rate"], instead: "hf.gates.set(name, { queue, rate }) holds a queue back" },
};

/** Null: no other system calls anything so. */
export function meaningOf(
  word: string,
  allowed: readonly string[],
): { readonly word: string | null; readonly instead: string | null } | null {
  const meaning = Object.hasOwn(MEANINGS, word) ? MEANINGS[word] : undefined;
  if (meaning === undefined) return null;
  const meant = meaning.words.find((one) => allowed.includes(one)) ?? null;
  return { word: meant, instead: meaning.instead ?? null };
}
