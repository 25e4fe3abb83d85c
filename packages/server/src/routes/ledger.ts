/** What is on record: failures, and what people did. */
import type { FailureView } from "holdfast";
import { z } from "zod";
import { auditEntry, failureView } from "./job-schemas.ts";
import { fillList } from "./fill-list.ts";
import { route } from "./route.ts";
import { inScope, queueInScope } from "./scope.ts";
import { auditView, failureDetails } from "./views.ts";
import {
  category,
  count,
  dateOf,
  defined,
  id,
  instant,
  list,
  name,
  paging,
  words,
} from "./words.ts";

export const ledgerRoutes = [
  route({
    ...{ method: "GET", path: "/api/v1/failures", role: "viewer", scope: "own", audit: null },
    summary: "Failed attempts, newest first.",
    query: z.strictObject({
      ...{ jobId: id.optional(), type: name.optional(), queue: name.optional() },
      ...{ group: name.optional(), company: words(64).optional(), category: category.optional() },
      ...{ fingerprint: words(128).optional(), final: z.boolean().optional() },
      ...{ resolved: z.boolean().optional(), from: instant.optional(), to: instant.optional() },
      ...paging,
    }),
    ...{ body: null, answer: list(failureView) },
    async run({ hf, caller, query }) {
      const { limit = 50, cursor = null, from, to, ...given } = query;
      const queue = queueInScope(caller, given.queue);
      const asked = defined({ ...given, queue, from: dateOf(from), to: dateOf(to) });
      const isMeant = queue === undefined ? inScope(caller) : null;
      const page = await fillList<FailureView>({ limit, cursor }, isMeant, async (part) => {
        const { failures, nextCursor } = await hf.failures.list({ ...asked, ...part });
        return { items: failures, nextCursor };
      });
      return {
        items: page.items.map((one) => failureDetails(hf, one)),
        nextCursor: page.nextCursor,
      };
    },
  }),
  route({
    ...{ method: "POST", path: "/api/v1/failures/prune", role: "admin", scope: "whole" },
    ...{
      audit: "noted: prune failures",
      summary: "Removes failures that are past their keeping now.",
    },
    ...{ query: null, body: null, answer: z.strictObject({ pruned: count }) },
    run: async ({ hf }) => ({ pruned: await hf.failures.prune() }),
  }),
  route({
    ...{ method: "GET", path: "/api/v1/audit", role: "admin", scope: "whole", audit: null },
    summary: "What people and programs did, newest first.",
    query: z.strictObject({
      ...{ queue: name.optional(), jobId: id.optional(), type: name.optional() },
      state: z.enum(["done", "asked", "refused"]).optional(),
      ...{ from: instant.optional(), to: instant.optional(), ...paging },
    }),
    ...{ body: null, answer: list(auditEntry) },
    async run({ hf, query }) {
      const { from, to, ...given } = query;
      const asked = defined({ ...given, kind: "audit", from: dateOf(from), to: dateOf(to) });
      const { entries, nextCursor } = await hf.ledger(asked);
      return { items: entries.map((entry) => auditView(hf, entry)), nextCursor };
    },
  }),
];
