/**
 * Rows of one kind. A row that leads somewhere is one target as a whole; arrows move between rows, Enter opens,
 * `x` selects, Shift takes everything in between.
 */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { go } from "../state/router.ts";

export interface Column<Row> {
  readonly title: ComponentChildren;
  /** On the right, with figures of one width. */
  readonly isNumber?: boolean;
  /** Left out on a phone. */
  readonly isWide?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

export interface Selection {
  readonly chosen: ReadonlySet<string>;
  readonly change: (next: ReadonlySet<string>) => void;
}

interface TableProps<Row> {
  /** For readers who do not see it: what the rows are. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Where a row leads; without it rows are not targets. */
  readonly hrefOf?: (row: Row) => string | null;
  readonly selection?: Selection | undefined;
  readonly isCurrent?: (row: Row) => boolean;
}

export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, keyOf, hrefOf, selection, isCurrent } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const anchor = useRef(0);
  const keys = rows.map(keyOf);

  const toggle = (at: number, isRange: boolean) => {
    if (!selection) return;
    const key = keys[at];
    if (key === undefined) return;
    const next = new Set(selection.chosen);
    const isOn = !next.has(key);
    const [from, to] = isRange ? [anchor.current, at].sort((a, b) => a - b) : [at, at];
    for (const one of keys.slice(from, (to ?? at) + 1)) {
      if (isOn) next.add(one);
      else next.delete(one);
    }
    anchor.current = at;
    selection.change(next);
  };

  const onKey = (event: KeyboardEvent, at: number) => {
    if (event.target !== event.currentTarget) return;
    const moves: Readonly<Record<string, number>> = {
      ...{ ArrowDown: at + 1, ArrowUp: at - 1, j: at + 1, k: at - 1 },
      ...{ Home: 0, End: rows.length - 1 },
    };
    const to = moves[event.key];
    if (to !== undefined) {
      (body.current?.children[to] as HTMLElement | undefined)?.focus();
      event.preventDefault();
    } else if (event.key === "Enter") {
      const row = rows[at];
      const target = row === undefined ? null : (hrefOf?.(row) ?? null);
      if (target !== null) go(target);
      event.preventDefault();
    } else if (selection && event.key.toLowerCase() === "x") {
      toggle(at, event.shiftKey);
      event.preventDefault();
    }
  };

  const isAll =
    selection !== undefined && rows.length > 0 && keys.every((one) => selection.chosen.has(one));
  return (
    <div class="scroll">
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {selection && (
              <th class="x" scope="col">
                <input
                  type="checkbox"
                  aria-label="All on this page"
                  checked={isAll}
                  onChange={() => selection.change(isAll ? new Set() : new Set(keys))}
                />
              </th>
            )}
            {columns.map((column, at) => (
              <th key={at} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row, at) => {
            const key = keys[at] ?? "";
            const target = hrefOf?.(row) ?? null;
            const isChosen = selection?.chosen.has(key) ?? false;
            const classes = [
              target === null ? "" : "is-link",
              isChosen || isCurrent?.(row) ? "is-selected" : "",
            ];
            return (
              <tr
                key={key}
                class={classes.join(" ").trim()}
                tabIndex={target === null && !selection ? undefined : at === 0 ? 0 : -1}
                onKeyDown={(event) => onKey(event, at)}
                onClick={(event) => {
                  if (target !== null && isPlainClick(event)) go(target);
                }}
              >
                {selection && (
                  <td class="x">
                    <input
                      type="checkbox"
                      tabIndex={-1}
                      aria-label={`Select ${key}`}
                      checked={isChosen}
                      onClick={(event) => {
                        event.stopPropagation();
                        toggle(at, event.shiftKey);
                      }}
                    />
                  </td>
                )}
                {columns.map((column, place) => (
                  <td key={place} class={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function classOf({ isNumber, isWide }: Column<never>): string {
  return [isNumber ? "n" : "", isWide ? "wide" : ""].join(" ").trim();
}

/** Not one that picks text, opens a tab, or meant something inside the row. */
function isPlainClick(event: MouseEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return false;
  if ((event.target as HTMLElement).closest("a, button, input, label, select, summary"))
    return false;
  return (getSelection()?.toString() ?? "") === "";
}
