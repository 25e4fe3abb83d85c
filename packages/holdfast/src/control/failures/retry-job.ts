/** Runs a dead or cancelled job again, and says what can be done about one that is gone. */
import { InvalidPayloadError, JobNotFoundError } from "../../core/errors.ts";
import type { JobSummary } from "../../core/job.ts";
import { REDACTED } from "../../core/redact.ts";
import { findText } from "../../core/value-path.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import { resolveRetried } from "./resolve-entries.ts";

interface Retrying {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
  readonly payload?: unknown;
}

export async function retryJob<Options extends Retrying, Job extends JobSummary>(
  engine: { host: ExtensionHost; ledgerWriter: { readonly home: string } },
  operator: { retry(id: string, options: Options): Promise<Job | null> },
  { id, options }: { readonly id: string; readonly options: Options },
): Promise<"retried" | "refused"> {
  if (options?.payload !== undefined) refuseRedacted(options.payload);
  const before = await operator.retry(id, options).catch(async (error: unknown) => {
    throw error instanceof JobNotFoundError ? await whatIsLeft(engine, id, error) : error;
  });
  if (before === null) return "refused";
  await resolveRetried(engine, before, options);
  return "retried";
}

/** A payload that was copied from where secrets are hidden would run with the hiding as its secret. */
function refuseRedacted(payload: unknown): void {
  let json: string | undefined;
  try {
    json = JSON.stringify(payload);
  } catch {
    // No JSON: it is refused for that.
  }
  if (json === undefined || !json.includes(REDACTED)) return;
  const found = findText(JSON.parse(json), "payload", (text) => text.includes(REDACTED));
  throw new InvalidPayloadError(
    `${found} is ${REDACTED}: this payload was read where secrets are hidden. Put the secret there, or leave the payload out to keep the job's own`,
  );
}

/** A store may have been flushed: what the ledger has of a job is no job any more. */
async function whatIsLeft(
  { host, ledgerWriter }: { host: ExtensionHost; ledgerWriter: { readonly home: string } },
  jobId: string,
  error: JobNotFoundError,
): Promise<JobNotFoundError> {
  if (ledgerWriter.home === "nowhere") return error;
  const filter = { kind: "failure", jobId };
  const count = await host.ledger((book) => book.count(filter, 1)).catch(() => 0);
  if (count === 0) return error;
  return new JobNotFoundError(
    `job ${jobId} is gone from its store. The ledger has its failures (hf.failures.list), but no payload that may run, as secrets are hidden there: it cannot be replayed, so enqueue the work anew`,
  );
}
