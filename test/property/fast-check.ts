/**
 * What the properties use of fast-check, by its shape. It is handed in like `describe` and `it`, so
 * that the published package depends on no test tool: `storeProperties({ fc, … })` takes the real one.
 */
export interface Arbitrary<T> {
  /** Does it know a value it did not draw itself? Then it can shrink that too. */
  canShrinkWithoutContext(value: unknown): value is T;
}

export interface Weighted<T> {
  readonly weight: number;
  readonly arbitrary: Arbitrary<T>;
}

export interface FastCheck {
  constant<const T>(value: T): Arbitrary<T>;
  /** Shrinks towards the first. */
  constantFrom<const T>(...values: T[]): Arbitrary<T>;
  boolean(): Arbitrary<boolean>;
  nat(max: number): Arbitrary<number>;
  array<T>(
    item: Arbitrary<T>,
    bounds: { minLength?: number; maxLength: number; size?: "max" },
  ): Arbitrary<T[]>;
  record<T>(
    model: { [K in keyof T]: Arbitrary<T[K]> },
    how: { noNullPrototype: true },
  ): Arbitrary<T>;
  /** Null one time in `freq`; shrinks towards it. */
  option<T>(item: Arbitrary<T>, how: { nil: null; freq: number }): Arbitrary<T | null>;
  oneof<T>(...choices: Weighted<T>[]): Arbitrary<T>;
  asyncProperty<T>(of: Arbitrary<T>, claim: (value: T) => Promise<void>): unknown;
  check(property: unknown, how: CheckOptions): Promise<CheckDetails>;
}

export interface CheckOptions {
  readonly seed: number;
  readonly numRuns: number;
  /** The first counterexample is the last. */
  readonly endOnFailure?: boolean;
  /** Tried before anything is drawn. */
  readonly examples?: [unknown][];
}

export interface CheckDetails {
  readonly failed: boolean;
  readonly numRuns: number;
  readonly numShrinks: number;
  readonly counterexample: unknown;
  readonly errorInstance: unknown;
}
