import type { ComponentChildren } from "preact";

interface PanelProps {
  readonly title: ComponentChildren;
  /** On the right of the title: units, legends, small links. */
  readonly aside?: ComponentChildren;
  /** With room around the content; tables have their own. */
  readonly isPadded?: boolean;
  readonly isOld?: boolean;
  readonly children?: ComponentChildren;
}

export function Panel({ title, aside, isPadded, isOld, children }: PanelProps) {
  return (
    <section class={`panel${isOld ? " is-old" : ""}`}>
      <div class="h">
        <h2>{title}</h2>
        {aside !== undefined && <div class="r">{aside}</div>}
      </div>
      {isPadded ? <div class="b">{children}</div> : children}
    </section>
  );
}
