/** How far something is, in parts of one whole. Its numbers are always beside it as words. */
interface BarProps {
  readonly of: number;
  readonly parts: readonly {
    readonly tone: "ok" | "bad" | "wait" | "idle";
    readonly value: number;
  }[];
  readonly label: string;
}

export function Bar({ of, parts, label }: BarProps) {
  const done = parts.reduce((sum, { value }) => sum + value, 0);
  return (
    <div
      class="bar"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={of}
      aria-valuenow={Math.min(done, of)}
    >
      {parts.map(({ tone, value }) => (
        <i key={tone} class={tone} style={{ width: `${of === 0 ? 0 : (value / of) * 100}%` }} />
      ))}
    </div>
  );
}
