/**
 * A form whose work the server may refuse. It comes back with what was filled in and why it was refused: a payload
 * that took minutes to write is not lost to a wrong cron.
 */
import { askFirst, type Answer, type Question } from "./questions.ts";

/** Null: nobody wants it any more. */
export async function askUntilDone<Out>(
  asked: Question,
  work: (answer: Answer) => Promise<Out>,
): Promise<Out | null> {
  let question = asked;
  for (;;) {
    const answer = await askFirst(question);
    if (answer === null) return null;
    try {
      return await work(answer);
    } catch (error) {
      question = again(asked, answer, error);
    }
  }
}

function again(asked: Question, { fields, reason }: Answer, error: unknown): Question {
  return {
    ...asked,
    problem: error instanceof Error ? error.message : String(error),
    ...(reason !== undefined && { why: reason }),
    fields: (asked.fields ?? []).map((field) => ({ ...field, value: fields[field.name] ?? "" })),
  };
}
