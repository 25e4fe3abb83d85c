/** A stretch of time, in milliseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export function overlaps(span: Span, other: Span): boolean {
  return span.from <= other.to && other.from <= span.to;
}

/** How much of the window the spans cover together. */
export function covered(spans: readonly Span[], window: Span): number {
  let sum = 0;
  let reached = window.from;
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const begin = Math.max(from, reached);
    const end = Math.min(to, window.to);
    if (end <= begin) continue;
    sum += end - begin;
    reached = end;
  }
  return sum;
}
