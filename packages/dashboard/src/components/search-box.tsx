/** Finds jobs from anywhere: words with completion, and the address keeps what was asked. */
import { useEffect, useRef, useState } from "preact/hooks";
import { completionsOf, type Completion } from "../text/job-query.ts";
import { go, href, usePlace } from "../state/router.ts";
import { useKeys } from "../state/keys.ts";
import { useKnownWords } from "../state/known-words.ts";

const EXAMPLE = 'type:email.* status:dead group:tenant-7 error:"ECONN"';

export function SearchBox() {
  const { path, params } = usePlace();
  const asked = path[0] === "jobs" && path.length === 1 ? (params["q"] ?? "") : "";
  const [text, setText] = useState(asked);
  const [cursor, setCursor] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const known = useKnownWords(isOpen);
  useEffect(() => setText(asked), [asked]);
  useKeys([{ keys: "/", does: "Search jobs", run: () => input.current?.focus() }]);

  const options = isOpen ? completionsOf(text, cursor, known) : [];
  const submit = (value: string) => {
    setOpen(false);
    setChosen(-1);
    go(href(["jobs"], { q: value.trim() }));
  };
  const take = ({ taken }: Completion) => {
    setText(taken);
    setCursor(taken.length);
    setChosen(-1);
    const field = input.current;
    field?.focus();
    requestAnimationFrame(() => field?.setSelectionRange(taken.length, taken.length));
  };
  const onKey = (event: KeyboardEvent) => {
    const { key } = event;
    if (key === "ArrowDown" || key === "ArrowUp") {
      if (options.length === 0) return;
      const step = key === "ArrowDown" ? 1 : -1;
      setChosen(
        (chosen + step + options.length + (chosen < 0 && step < 0 ? 1 : 0)) % options.length,
      );
      event.preventDefault();
    } else if (key === "Enter") {
      const option = options[chosen];
      if (option) take(option);
      else submit(text);
      event.preventDefault();
    } else if (
      key === "Tab" &&
      isOpen &&
      !event.shiftKey &&
      options[Math.max(chosen, 0)] &&
      /\S$/.test(text)
    ) {
      take(options[Math.max(chosen, 0)]!);
      event.preventDefault();
    } else if (key === "Escape") {
      if (isOpen) setOpen(false);
      else input.current?.blur();
    }
  };
  return (
    <div class="search" role="search">
      <input
        ref={input}
        class="in mono"
        type="text"
        role="combobox"
        aria-label="Search jobs"
        aria-expanded={options.length > 0}
        aria-controls="search-options"
        aria-autocomplete="list"
        aria-activedescendant={chosen >= 0 ? `search-option-${chosen}` : undefined}
        autocomplete="off"
        spellcheck={false}
        maxLength={1_000}
        placeholder={`Search jobs  ${EXAMPLE}`}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setCursor(event.currentTarget.selectionStart ?? event.currentTarget.value.length);
          setOpen(true);
          setChosen(-1);
        }}
        onFocus={(event) => {
          setCursor(event.currentTarget.selectionStart ?? 0);
          setOpen(true);
        }}
        onBlur={() => setOpen(false)}
        onKeyDown={onKey}
      />
      <kbd aria-hidden="true">/</kbd>
      {options.length > 0 && (
        <ul class="options" id="search-options" role="listbox" aria-label="Completions">
          {options.map((option, at) => (
            <li
              key={option.text}
              id={`search-option-${at}`}
              role="option"
              aria-selected={at === chosen}
              onMouseDown={(event) => {
                event.preventDefault();
                take(option);
              }}
            >
              <span class="mono">{option.text}</span>
              <span class="sub">{option.about}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
