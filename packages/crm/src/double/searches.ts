/** Searches, with the limits of the API and an index that lags behind. */
import { invalid, type Answer } from "./answer.ts";
import type { Filter, Portal } from "./portal.ts";
import type { ObjectType } from "./portal-properties.ts";
import { isPlainObject, shown, unknownWord } from "./shapes.ts";

const WORDS = ["filterGroups", "properties", "sorts", "limit", "after", "query"];
const OPERATORS = ["EQ", "NEQ", "IN", "HAS_PROPERTY", "NOT_HAS_PROPERTY"];

export function searchAnswer(
  type: ObjectType,
  body: unknown,
  { portal, searchLagMs }: { readonly portal: Portal; readonly searchLagMs: number },
): Answer {
  if (!isPlainObject(body)) return invalid("the body must be a JSON object");
  const unknown = unknownWord(body, WORDS);
  if (unknown !== null) return invalid(`Invalid input JSON: unknown field "${unknown}"`);
  const { filterGroups = [], limit = 10, after = "0" } = body;
  const groups = filterGroups as readonly { readonly filters?: readonly Filter[] }[];
  if (!Array.isArray(filterGroups) || groups.length > 5) return invalid("at most 5 filterGroups");
  const filters = groups.map((group) => group.filters ?? []);
  const all = filters.flat();
  if (filters.some((group) => group.length > 10) || all.length > 25) {
    return invalid("at most 10 filters in a group, 25 in all");
  }
  const wrong = all.find(({ operator }) => !OPERATORS.includes(operator));
  if (wrong) return invalid(`the double does not know the operator ${String(wrong.operator)}`);
  const strange = all.find(({ propertyName }) => !portal.properties(type).has(propertyName));
  if (strange) return invalid(`Property "${strange.propertyName}" does not exist`);
  if (typeof limit !== "number" || limit < 1 || limit > 200) return invalid("limit is 1 to 200");
  const from = Number(after);
  if (!Number.isInteger(from) || from < 0 || from + limit > 10_000) {
    return invalid("after is not the place of a page");
  }
  const page = portal.search(type, filters, { limit, after: from, lagMs: searchLagMs });
  const paging = page.after === null ? {} : { paging: { next: { after: page.after } } };
  return { status: 200, body: { total: page.total, results: page.results.map(shown), ...paging } };
}
