/**
 * Who finds something to say about a company's months. The default knows a few stated rules and no model; one that
 * asks a model takes its place by `{ provide: ModelProvider, useClass: … }`.
 */
import { Injectable } from "@nestjs/common";
import type { MonthTotals } from "./books.ts";

export interface Insight {
  /** Which rule, or which question: an insight of the same day and rule is replaced. */
  readonly rule: string;
  readonly severity: "info" | "warning";
  readonly text: string;
}

export interface InsightQuestion {
  readonly company: string;
  readonly currency: string;
  /** Oldest first. */
  readonly months: readonly MonthTotals[];
  readonly signal: AbortSignal;
}

export abstract class ModelProvider {
  /** Shown with each insight. */
  abstract readonly name: string;
  abstract insights(question: InsightQuestion): Promise<readonly Insight[]>;
}

/** A fall, or a rise of costs, of more than a fifth is worth a word. */
const NOTABLE = 0.2;

@Injectable()
export class RuleProvider extends ModelProvider {
  readonly name = "rules";

  async insights({ company, currency, months }: InsightQuestion): Promise<readonly Insight[]> {
    const [before, last] = months.slice(-2);
    if (!before || !last) {
      return [
        { rule: "too-little", severity: "info", text: `${company} has less than two months` },
      ];
    }
    const money = (cents: number) => `${(cents / 100).toFixed(2)} ${currency}`;
    const found: Insight[] = [];
    if (last.balanceCents < 0) {
      const text = `${last.month} closed with a loss of ${money(-last.balanceCents)}`;
      found.push({ rule: "loss", severity: "warning", text });
    }
    if (last.revenueCents < before.revenueCents * (1 - NOTABLE)) {
      const text = `Revenue fell from ${money(before.revenueCents)} to ${money(last.revenueCents)} in ${last.month}`;
      found.push({ rule: "revenue-fell", severity: "warning", text });
    }
    if (last.expenseCents > before.expenseCents * (1 + NOTABLE)) {
      const text = `Expenses rose from ${money(before.expenseCents)} to ${money(last.expenseCents)} in ${last.month}`;
      found.push({ rule: "expenses-rose", severity: "warning", text });
    }
    const best = months.reduce((a, b) => (b.balanceCents > a.balanceCents ? b : a));
    const text = `The best month so far is ${best.month}, with ${money(best.balanceCents)}`;
    return [...found, { rule: "best-month", severity: "info", text }];
  }
}
