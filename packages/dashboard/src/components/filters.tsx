/** What narrows a list. Each filter is a parameter of the address; a change of one begins the list anew. */
import { useEffect, useState } from "preact/hooks";
import { setParams, useParam } from "../state/router.ts";
import { Segments } from "./segments.tsx";

interface FilterChoiceProps {
  readonly label: string;
  readonly param: string;
  /** The one with an empty value is that without a filter. */
  readonly options: readonly { readonly value: string; readonly text: string }[];
}

export function FilterChoice({ label, param, options }: FilterChoiceProps) {
  const value = useParam(param);
  return (
    <Segments
      label={label}
      value={value}
      options={options}
      onChange={(next) => setParams({ [param]: next, cursor: null })}
    />
  );
}

/** Asked for at Enter, or when it is left. */
export function FilterText({ label, param }: { label: string; param: string }) {
  const asked = useParam(param);
  // A list that reads itself again draws its filters again: without a draft it would undo what is being typed.
  const [draft, setDraft] = useState<string | null>(null);
  useEffect(() => setDraft(null), [asked]);
  const ask = (text: string) => {
    if (text === asked) setDraft(null);
    else setParams({ [param]: text, cursor: null });
  };
  return (
    <label class="filter">
      <span class="sub">{label}</span>
      <input
        class="in"
        autocomplete="off"
        spellcheck={false}
        value={draft ?? asked}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onChange={(event) => ask(event.currentTarget.value.trim())}
      />
    </label>
  );
}
