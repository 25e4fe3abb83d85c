/** Scenario parameters as texts for a form, and back: only what was changed is said. */
import type { Knobs, Params } from "../../api/simulations.ts";
import type { QuestionField } from "../../state/questions.ts";
import { exactDuration, parseDuration } from "../../text/times.ts";

export const ACTIVITIES = ["note", "call", "task", "ticket"] as const;
export type Activity = (typeof ACTIVITIES)[number];

const checkShare = (text: string): string | null =>
  /^(0|1|0?\.\d{1,6}|1\.0+|0\.\d{1,6})$/.test(text) ? null : "a number from 0 to 1, such as 0.25";
const checkWhole = (text: string): string | null =>
  /^\d{1,9}$/.test(text) ? null : "a whole number";
const checkSpan = (text: string): string | null =>
  parseSpan(text) === null ? "write it as 1 min to 2 h" : null;

export function spanText([from, to]: readonly [number, number]): string {
  return from === to ? exactDuration(from) : `${exactDuration(from)} to ${exactDuration(to)}`;
}

/** "1 min to 2 h", or one time for both. */
export function parseSpan(text: string): [number, number] | null {
  const [from = null, to = from, more] = text.split(/\s+to\s+/i).map(parseDuration);
  return from === null || to === null || more !== undefined || to < from ? null : [from, to];
}

export function winRateFields({ winRate }: Params): readonly QuestionField[] {
  const label = "Share of deals that are won";
  return [{ name: "winRate", label, value: String(winRate), check: checkShare, isRequired: true }];
}

export function activityFields(params: Params, type: Activity): readonly QuestionField[] {
  const budget = params.budgets[type];
  return [
    {
      ...{ name: "probabilities", label: "Probability", check: checkShare, isRequired: true },
      value: String(params.probabilities[type]),
    },
    {
      ...{ name: "caps", label: "Most for one record", check: checkWhole, isRequired: true },
      value: String(params.caps[type]),
    },
    {
      ...{ name: "budgets", label: "Most in all (empty: any number)", check: checkWhole },
      value: budget === null ? "" : String(budget),
    },
    {
      ...{ name: "delaysMs", label: "How long after its record", check: checkSpan },
      ...{ hint: "1 min to 2 h", value: spanText(params.delaysMs[type]), isRequired: true },
    },
  ];
}

/** What differs from the fields as they were; null: nothing. */
export function changedKnobs(
  fields: readonly QuestionField[],
  filled: Readonly<Record<string, string>>,
  type: Activity | null,
): Knobs | null {
  const changes = fields.flatMap(({ name, value }) => {
    const text = (filled[name] ?? "").trim();
    if (text === value) return [];
    const said = name === "delaysMs" ? parseSpan(text) : text === "" ? null : Number(text);
    return [[name, type === null ? said : { [type]: said }] as const];
  });
  return changes.length === 0 ? null : (Object.fromEntries(changes) as Knobs);
}
