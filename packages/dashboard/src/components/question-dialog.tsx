/** The one dialog that asks before something is done. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useCell } from "../state/cell.ts";
import { environment } from "../state/environment.ts";
import { question, type Asked, type QuestionField } from "../state/questions.ts";

export function QuestionDialog() {
  const asked = useCell(question);
  return asked && <OpenQuestion key={asked.title + asked.verb} asked={asked} />;
}

function OpenQuestion({ asked }: { asked: Asked }) {
  const { title, body, verb, isDestructive = false, reason = "optional", fields = [] } = asked;
  const dialog = useRef<HTMLDialogElement>(null);
  const [why, setWhy] = useState(asked.why ?? "");
  const [name, setName] = useState("");
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(fields.map((field) => [field.name, field.value ?? ""])),
  );
  const [problem, setProblem] = useState<string | null>(asked.problem ?? null);
  useEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    shown?.showModal();
    // A dialog that is taken away while it is open gives no focus back by itself.
    return () => {
      shown?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const needsName = isDestructive && environment?.isProduction === true;

  const submit = (event: Event) => {
    event.preventDefault();
    const wrong =
      problemOf(fields, values) ??
      (reason === "required" && why.trim() === ""
        ? "Say why: it is kept with who did it."
        : null) ??
      (needsName && name !== environment?.name
        ? `Type the name of this environment to go on: ${environment?.name}`
        : null);
    setProblem(wrong);
    if (wrong !== null) return;
    dialog.current?.close();
    asked.answer({ reason: why.trim() === "" ? undefined : why.trim(), fields: filled(values) });
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question"
      onCancel={() => asked.answer(null)}
      onClick={(event) => {
        if (event.target === dialog.current) asked.answer(null);
      }}
    >
      <form class="form" method="dialog" onSubmit={submit} noValidate>
        <h2 id="question">{title}</h2>
        {body !== undefined && <div class="soft any">{body}</div>}
        {fields.map((field, at) => (
          <Field
            key={field.name}
            field={field}
            value={values[field.name] ?? ""}
            isFirst={at === 0}
            onChange={(value) => setValues({ ...values, [field.name]: value })}
          />
        ))}
        {reason !== "none" && (
          <label class="field">
            Reason, for the audit{reason === "optional" ? " (may be left out)" : ""}
            <input
              class="in"
              maxLength={500}
              value={why}
              autofocus={fields.length === 0}
              onInput={(event) => setWhy(event.currentTarget.value)}
            />
          </label>
        )}
        {needsName && (
          <label class="field">
            <span>
              This is <b class="env">{environment?.name}</b>. Type its name to go on.
            </span>
            <input
              class="in mono"
              autocomplete="off"
              spellcheck={false}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
        )}
        {problem !== null && (
          <p class="error" role="alert">
            {problem}
          </p>
        )}
        <div class="acts">
          <button type="button" class="btn" onClick={() => asked.answer(null)}>
            Not now
          </button>
          <button type="submit" class={`btn p${isDestructive ? " danger" : ""}`}>
            {verb}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** What is blank is empty: a form that reads a blank as a number would read 0, which is a limit. */
function filled(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value.trim() === "" ? "" : value]),
  );
}

function problemOf(
  fields: readonly QuestionField[],
  values: Readonly<Record<string, string>>,
): string | null {
  for (const { name, label, isRequired, check } of fields) {
    const value = values[name] ?? "";
    if (value.trim() === "") {
      if (isRequired) return `${label}: this is needed.`;
      continue;
    }
    const wrong = check?.(value) ?? null;
    if (wrong !== null) return `${label}: ${wrong}`;
  }
  return null;
}

interface FieldProps {
  readonly field: QuestionField;
  readonly value: string;
  readonly isFirst: boolean;
  readonly onChange: (value: string) => void;
}

function Field({ field, value, isFirst, onChange }: FieldProps) {
  const { label, hint, kind = "text", options = [] } = field;
  const shared = { class: "in", value, autofocus: isFirst } as const;
  return (
    <label class="field">
      {label}
      {kind === "area" ? (
        <textarea
          {...shared}
          spellcheck={false}
          rows={8}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      ) : kind === "select" ? (
        <select {...shared} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...shared}
          inputMode={kind === "number" ? "numeric" : "text"}
          autocomplete="off"
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
      {hint !== undefined && <span class="hint">{hint}</span>}
    </label>
  );
}
