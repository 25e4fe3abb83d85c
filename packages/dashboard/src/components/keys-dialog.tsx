/** Every key that does something here. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useCell } from "../state/cell.ts";
import { allKeys, useKeys } from "../state/keys.ts";
import { Keys } from "./texts.tsx";

const IN_TABLES = [
  { keys: "↑ ↓", does: "In a table: move between rows" },
  { keys: "Enter", does: "In a table: open the row" },
  { keys: "x", does: "In a table: select the row, with Shift all in between" },
  { keys: "Esc", does: "Close what is open" },
];

export function KeysDialog() {
  const [isOpen, setOpen] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const keys = useCell(allKeys);
  useKeys([{ keys: "?", does: "Show all keys", run: () => setOpen(true) }]);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  if (!isOpen) return null;
  const shown = new Map([...keys, ...IN_TABLES].map((one) => [one.keys, one.does]));
  return (
    <dialog ref={dialog} aria-labelledby="keys" onClose={() => setOpen(false)}>
      <h2 id="keys">Keys</h2>
      <dl class="facts">
        {[...shown].map(([one, does]) => (
          <>
            <dt>
              <Keys keys={one} />
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
      <div class="acts">
        <button type="button" class="btn" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
