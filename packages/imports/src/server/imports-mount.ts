/**
 * Imports over HTTP, as a mount of `@holdfast/server`:
 *
 *     createServer(hf, { mounts: [importsMount(imports)] })
 */
import { Readable } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import { HttpError, Reply, route, z, type Call, type Caller, type Mount } from "@holdfast/server";
import { DuplicateJobError } from "holdfast";
import { ImportRejectedError } from "../errors.ts";
import type { Imports } from "../imports.ts";
import type { ImportReceipt } from "../submit-options.ts";
import type { ImportView } from "../import-view.ts";
import { SheetError } from "../read/sheet.ts";

const BASE = "/api/v1/imports";
const instant = z.iso.datetime({ offset: true });
const count = z.int().min(0);
const rowErrors = z.array(z.strictObject({ row: count, reason: z.string() }));

const receipt = z
  .strictObject({
    ...{ jobId: z.string(), jobType: z.string(), type: z.string(), file: z.string() },
    ...{ dryRun: z.boolean(), status: z.literal("queued") },
  })
  .meta({ id: "ImportReceipt" });

const summary = z
  .strictObject({
    ...{ type: z.string(), file: z.string(), dryRun: z.boolean(), totalRows: count },
    ...{ inserted: count, updated: count, failed: count, errors: rowErrors },
    ...{ errorsLeftOut: count, replaced: count, warnings: rowErrors },
  })
  .meta({ id: "ImportSummary" });

const view = z
  .strictObject({
    ...{ id: z.string(), type: z.string(), file: z.string(), dryRun: z.boolean() },
    status: z.enum(["queued", "processing", "succeeded", "dead", "cancelled"]),
    progress: z.strictObject({ percent: z.number(), message: z.string().nullable() }).nullable(),
    ...{ summary: summary.nullable(), error: z.string().nullable(), attempts: count },
    ...{ createdAt: instant, startedAt: instant.nullable(), finishedAt: instant.nullable() },
  })
  .meta({ id: "Import" });

const types = z.strictObject({
  types: z.array(z.string()),
  manifest: z.record(
    z.string(),
    z.strictObject({
      type: z.string(),
      sheetName: z.string().optional(),
      headerRow: count.optional(),
    }),
  ),
  problem: z.string().nullable(),
});

export function importsMount(imports: Imports): Mount {
  const write = { method: "POST", role: "operator", query: null, answer: receipt } as const;
  const read = { method: "GET", role: "viewer", audit: null, body: null } as const;
  const common = { scope: "own", statuses: [202] } as const;
  return {
    ...{ name: "imports", queue: imports.queue },
    routes: [
      route({
        ...{ ...write, ...common, path: `${BASE}/xlsx`, audit: "noted: import" },
        summary: "Imports a file of the inbox; the manifest says its type.",
        body: z.strictObject({
          filename: z.string().min(1).max(300),
          dryRun: z.boolean().optional(),
        }),
        run: (call) =>
          accepted(imports, call, () =>
            imports.submit(call.body.filename, { dryRun: call.body.dryRun }),
          ),
      }),
      route({
        ...{ ...write, ...common, path: `${BASE}/xlsx/upload`, audit: "noted: import" },
        ...{ body: null, rawBody: { contentType: "multipart/form-data" } },
        summary: 'Imports a file that is sent in the field "file"; the manifest says its type.',
        run: (call) => accepted(imports, call, () => imports.receive(...bodyOf(call.request))),
      }),
      route({
        ...{ ...read, scope: "own", path: `${BASE}/types`, query: null, answer: types },
        summary: "What can be imported, and the manifest.",
        async run({ caller }) {
          needQueue(caller, imports.queue);
          const { entries, problem } = imports.manifest;
          return { types: imports.types, manifest: entries, problem };
        },
      }),
      route({
        ...{ ...read, scope: "own", path: BASE },
        summary: "Imports, newest first.",
        query: z.strictObject({
          limit: z.int().min(1).max(200).optional(),
          cursor: z.string().max(4096).optional(),
          errors: z
            .boolean()
            .optional()
            .meta({ description: "false leaves the errors and warnings of rows out" }),
        }),
        answer: z.strictObject({ items: z.array(view), nextCursor: z.string().nullable() }),
        async run({ caller, hf, query: { errors = true, ...query } }) {
          needQueue(caller, imports.queue);
          const page = await imports.list(query);
          const items = page.imports.map((one) => shown(one, hf));
          return { items: errors ? items : items.map(short), nextCursor: page.nextCursor };
        },
      }),
      route({
        ...{ ...read, scope: "own", path: `${BASE}/:id`, query: null, answer: view },
        summary: "One import: how far it is, or what came of it.",
        async run({ caller, hf, params }) {
          needQueue(caller, imports.queue);
          return shown(await imports.get(params["id"] ?? ""), hf);
        },
      }),
      route({
        ...{ ...read, scope: "own", path: `${BASE}/:id/rows` },
        summary: "The first rows that failed, also while the import runs.",
        query: z.strictObject({ limit: z.int().min(1).max(1_000).optional() }),
        answer: z.strictObject({
          items: rowErrors,
          total: count.meta({ description: "how many the error file has" }),
        }),
        async run({ caller, params, query: { limit = 100 } }) {
          needQueue(caller, imports.queue);
          const all = await imports.errors(params["id"] ?? "");
          return { items: all.slice(0, limit), total: all.length };
        },
      }),
      route({
        ...{ ...read, scope: "own", path: `${BASE}/:id/errors`, query: null },
        summary: "The rows that failed, as a CSV file.",
        answer: { contentType: "text/csv" },
        async run({ caller, params }) {
          needQueue(caller, imports.queue);
          const id = params["id"] ?? "";
          return new Response(await imports.errorFile(id), {
            headers: {
              "content-type": "text/csv; charset=utf-8",
              "content-disposition": `attachment; filename="import-errors-${id.replaceAll(/[^\w-]/g, "")}.csv"`,
            },
          });
        },
      }),
    ],
  };
}

async function accepted(
  imports: Imports,
  { caller }: Pick<Call, "caller">,
  body: () => Promise<ImportReceipt>,
): Promise<Reply> {
  needQueue(caller, imports.queue);
  try {
    const { id, ...rest } = await body();
    return new Reply({ jobId: id, ...rest, status: "queued" }, 202);
  } catch (error) {
    throw refusalOf(error);
  }
}

/** A file is refused in the words that it is refused in anywhere; the status says of what kind that is. */
function refusalOf(error: unknown): unknown {
  if (error instanceof DuplicateJobError) {
    const { jobId, status, message } = error;
    return new HttpError(409, "duplicate_import", message, { extra: { jobId, status } });
  }
  const isOurs = error instanceof ImportRejectedError || error instanceof SheetError;
  if (!isOurs) return error;
  const { reason, place, message } = error;
  const extra = { reason, ...(place !== null && { place }) };
  const answer = (status: number, code: string) => new HttpError(status, code, message, { extra });
  if (reason === "too-large" || reason === "bomb") return answer(413, "import_too_large");
  if (reason === "multipart") return answer(400, "multipart");
  if (reason === "missing-file") return answer(404, "not_found");
  return answer(422, "import_rejected");
}

function bodyOf(request: Request): [Readable, string] {
  const type = request.headers.get("content-type") ?? "";
  if (request.body === null) throw new ImportRejectedError("multipart", "the body is missing");
  return [Readable.fromWeb(request.body as WebStream), type];
}

/** For a token with a scope, imports are there if their queue is. */
function needQueue({ queues }: Caller, queue: string): void {
  if (queues === null || queues.has(queue)) return;
  throw new HttpError(404, "not_found", "there is no such thing here");
}

/** What a target threw may hold the password of its address. */
function shown(one: ImportView, hf: Call["hf"]) {
  const progress = one.progress && {
    percent: one.progress.percent,
    message: one.progress.message ?? null,
  };
  const error = one.error === null ? null : hf.tools.redact.text(one.error);
  return { ...one, progress, error };
}

/** For a list: what rows were wrong with is looked at one by one. */
function short(one: ReturnType<typeof shown>) {
  return { ...one, summary: one.summary && { ...one.summary, errors: [], warnings: [] } };
}
