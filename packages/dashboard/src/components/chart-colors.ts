/** Colours as a canvas needs them. A custom property holds a text that only a real element makes a colour of. */
export function resolvedColor(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** `rgb(1, 2, 3)` with so much left of it. */
export function faded(color: string, share: number): string {
  const parts = color.match(/[\d.]+/g)?.slice(0, 3) ?? ["0", "0", "0"];
  return `rgba(${parts.join(", ")}, ${share})`;
}
