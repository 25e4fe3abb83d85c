import { useCell } from "../state/cell.ts";
import { dismiss, toasts } from "../state/toasts.ts";

export function Toasts() {
  const shown = useCell(toasts);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, isBad, link }) => (
        <div key={id} class={`toast${isBad ? " bad" : ""}`}>
          <span>{text}</span>
          {link && (
            <a href={link.href} onClick={() => dismiss(id)}>
              {link.text}
            </a>
          )}
          <button type="button" class="link" onClick={() => dismiss(id)}>
            Close
          </button>
        </div>
      ))}
    </div>
  );
}
