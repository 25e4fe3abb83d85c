/** Payloads by their fields, as a Standard Schema: what is wrong is said with the name of its field. */
import type { StandardSchema } from "holdfast";

export interface Field<Value> {
  /** What is wrong with it; null: nothing. Undefined is asked about, too. */
  check(value: unknown): string | null;
  /** Never there at run time. */
  readonly type?: Value;
}

type Fields = Readonly<Record<string, Field<unknown>>>;
type ValueOf<One> = One extends Field<infer Value> ? Value : never;
type Needed<F extends Fields> = {
  readonly [Name in keyof F as undefined extends ValueOf<F[Name]> ? never : Name]: ValueOf<F[Name]>;
};
type Optional<F extends Fields> = {
  readonly [Name in keyof F as undefined extends ValueOf<F[Name]> ? Name : never]?: ValueOf<
    F[Name]
  >;
};
export type Shaped<F extends Fields> = Needed<F> & Optional<F>;
export type ShapeOf<Schema> =
  Schema extends StandardSchema<infer Input, infer _Output> ? Input : never;

/** An object with these fields, and no other. */
export function shape<const F extends Fields>(fields: F): StandardSchema<Shaped<F>> {
  return {
    "~standard": {
      ...{ version: 1, vendor: "holdfast-crm" },
      validate(value) {
        if (typeof value !== "object" || value === null || Array.isArray(value)) {
          return { issues: [{ message: "must be an object" }] };
        }
        const given = value as Record<string, unknown>;
        const unknown = Object.keys(given).filter((name) => !Object.hasOwn(fields, name));
        const issues = [
          ...Object.entries(fields).flatMap(([name, field]) => {
            const wrong = field.check(given[name]);
            return wrong === null ? [] : [{ message: wrong, path: [name] }];
          }),
          ...unknown.map((name) => ({ message: "is not a field of this operation", path: [name] })),
        ];
        return issues.length > 0 ? { issues } : { value: value as Shaped<F> };
      },
    },
  };
}

export function text(options: { readonly max?: number } = {}): Field<string> {
  const { max = 1_000 } = options;
  return {
    check: (value) =>
      typeof value === "string" && value.trim() !== "" && value.length <= max
        ? null
        : `must be a text of 1 to ${max} characters`,
  };
}

export function email(): Field<string> {
  return {
    check: (value) =>
      typeof value === "string" && value.length <= 254 && /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(value)
        ? null
        : "must be an email address",
  };
}

export function oneOf<const Word extends string>(words: readonly Word[]): Field<Word> {
  return {
    check: (value) =>
      words.some((word) => word === value) ? null : `must be one of ${words.join(", ")}`,
  };
}

export function amount(): Field<number> {
  return {
    check: (value) => (Number.isFinite(value) ? null : "must be a number"),
  };
}

export function flag(): Field<boolean> {
  return { check: (value) => (typeof value === "boolean" ? null : "must be true or false") };
}

/** ISO text. */
export function instant(): Field<string> {
  return {
    check: (value) =>
      typeof value === "string" &&
      /^\d{4}-\d{2}-\d{2}/.test(value) &&
      !Number.isNaN(Date.parse(value))
        ? null
        : "must be an instant such as 2026-11-18T06:00:00Z",
  };
}

export function textMap(): Field<Readonly<Record<string, string>>> {
  return {
    check: (value) =>
      typeof value === "object" &&
      value !== null &&
      !Array.isArray(value) &&
      Object.values(value).every((one) => typeof one === "string")
        ? null
        : "must be an object of texts",
  };
}

export function optional<Value>(field: Field<Value>): Field<Value | undefined> {
  return { check: (value) => (value === undefined ? null : field.check(value)) };
}
