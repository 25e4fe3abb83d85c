/** Asks before something is done: what it will do, why, and in production for the environment's name. */
import type { ComponentChildren } from "preact";
import { cell } from "./cell.ts";

export interface Question {
  readonly title: string;
  /** What will happen, with a number where there is one. */
  readonly body?: ComponentChildren;
  /** On the button: "Pause mail". */
  readonly verb: string;
  /** Something is lost, or stops: in production the environment's name is asked for. */
  readonly isDestructive?: boolean;
  readonly reason?: "required" | "optional" | "none";
  /** Further fields, checked when the button is pressed. */
  readonly fields?: readonly QuestionField[];
  /** What was wrong with the last answer, and the reason it gave. */
  readonly problem?: string;
  readonly why?: string;
}

export interface QuestionField {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly hint?: string;
  readonly kind?: "text" | "area" | "number" | "select";
  readonly options?: readonly { readonly value: string; readonly text: string }[];
  readonly isRequired?: boolean;
  /** Null: it fits. */
  readonly check?: (value: string) => string | null;
}

export interface Answer {
  readonly reason: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

export interface Asked extends Question {
  readonly answer: (answer: Answer | null) => void;
}

export const question = cell<Asked | null>(null);

/** Null: no. */
export function askFirst(asked: Question): Promise<Answer | null> {
  question.get()?.answer(null);
  return new Promise((resolve) => {
    question.set({
      ...asked,
      answer(given) {
        question.set(null);
        resolve(given);
      },
    });
  });
}
