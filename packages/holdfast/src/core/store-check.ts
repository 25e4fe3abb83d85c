/** What is found where jobs are kept, for people: what is wrong with it, and what to do. */

export interface Finding {
  /** A short name that does not change: `schema`, `eviction`, `clock`. */
  readonly check: string;
  /** `trouble`: jobs may be lost, or nothing runs. `warning`: mend it soon. `note`: to know. */
  readonly level: "ok" | "note" | "warning" | "trouble";
  /** What is so, and what to do about it. */
  readonly message: string;
}

export interface SchemaState {
  /** 0: there is none yet. */
  readonly found: number;
  readonly wanted: number;
  readonly state: "none" | "old" | "current" | "newer";
}

export interface StoreCheck {
  readonly store: string;
  readonly version: string;
  readonly schema: SchemaState;
  readonly findings: readonly Finding[];
}

export function schemaState(found: number, wanted: number): SchemaState {
  const state =
    found === 0 ? "none" : found < wanted ? "old" : found > wanted ? "newer" : "current";
  return { found, wanted, state };
}

export function schemaFinding({ found, wanted, state }: SchemaState): Finding {
  const check = "schema";
  switch (state) {
    case "none":
      return {
        ...{ check, level: "note" },
        message:
          "there are no tables yet: they are made when a program opens the store, or by holdfast migrate up",
      };
    case "old":
      return {
        ...{ check, level: "warning" },
        message: `the schema is version ${found}, this Holdfast has ${wanted}: run holdfast migrate up, or let the next start do it`,
      };
    case "newer":
      return {
        ...{ check, level: "warning" },
        message: `the schema is version ${found}, this Holdfast has ${wanted}: a newer one wrote it, so upgrade this one`,
      };
    case "current":
      return { check, level: "ok", message: `the schema is version ${found}, as it should be` };
  }
}
