/** One figure, and the line that it has to reach. */
export interface Figure {
  readonly what: string;
  readonly value: string;
  /** Null: it is only told. */
  readonly line: string | null;
  readonly isReached: boolean | null;
}

export interface MeasureOptions {
  readonly isSmall: boolean;
}

export function told(what: string, value: string): Figure {
  return { what, value, line: null, isReached: null };
}

export function judged(what: string, value: string, line: string, isReached: boolean): Figure {
  return { what, value, line, isReached };
}

export function figureWords({ what, value, line, isReached }: Figure): string {
  const judgement = line === null ? "" : `   line: ${line}${isReached ? "" : "   NOT REACHED"}`;
  return `${what.padEnd(58)}${value.padStart(12)}${judgement}`;
}
