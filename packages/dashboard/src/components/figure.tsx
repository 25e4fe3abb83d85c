/** One number of the first screen: what it is, how much, what about it, and its trend. */
import type { ComponentChildren } from "preact";

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly unit?: string;
  readonly about: ComponentChildren;
  readonly tone?: "ok" | "warn" | "bad" | "";
  readonly href: string;
  readonly children?: ComponentChildren;
}

export function Figure({ name, value, unit, about, tone = "", href, children }: FigureProps) {
  return (
    <a class="cell" href={href}>
      <span class="k">{name}</span>
      <span class={`v ${tone}`}>
        {value}
        {unit !== undefined && <small>{unit}</small>}
      </span>
      <span class="d cut">{about}</span>
      {children}
    </a>
  );
}
