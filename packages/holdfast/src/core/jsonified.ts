/**
 * What comes back of a value that went through JSON: what a store keeps of results and steps. A Date
 * comes back as text; what JSON cannot say (a function, a bigint, a Map) is refused when it is
 * written, so nothing comes back of it.
 */
export type Jsonified<Value> =
  IsAny<Value> extends true
    ? Value
    : unknown extends Value
      ? unknown
      : Value extends JsonValue | void
        ? Value
        : Value extends { toJSON(...args: never): infer Json }
          ? Jsonified<Json>
          : Value extends Refused
            ? never
            : { [Key in keyof Value]: Jsonified<Value[Key]> };

/** Comes back as it is. A recursive type ends here, before it is walked for ever. */
type JsonValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** Of a handler that returned nothing, null is stored. */
export type StoredResult<Returned> =
  IsAny<Returned> extends true
    ? Returned
    : unknown extends Returned
      ? unknown
      : Returned extends undefined | void
        ? null
        : Jsonified<Returned>;

type IsAny<Value> = 0 extends 1 & Value ? true : false;

type Refused =
  | bigint
  | symbol
  | ((...args: never) => unknown)
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ArrayBufferView;
