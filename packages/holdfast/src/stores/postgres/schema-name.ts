import { createHash } from "node:crypto";
import { InvalidOptionError } from "../../core/errors.ts";

/** No quotes, no dots: it stands in statements and in names as it is. Short enough for a channel. */
const SCHEMA = /^[A-Za-z_][A-Za-z0-9_-]{0,49}$/;

export function isSchemaName(name: unknown): boolean {
  return typeof name === "string" && SCHEMA.test(name);
}

/** Puts the real name of the schema into statements, where `holdfast.` stands for it. */
export class SchemaName {
  readonly name: string;
  /** Of the wakeups of this schema. */
  readonly channel: string;
  readonly #known = new Map<string, Statement>();

  constructor(name: string) {
    if (!isSchemaName(name)) {
      throw new InvalidOptionError(
        "schema must be up to 50 letters, digits, underscores and dashes, and begin with a letter or an underscore: for example holdfast",
      );
    }
    this.name = name;
    this.channel = `holdfast:${name}`;
  }

  /** A statement that is used again and again: its name is the same in every process. */
  statement(sql: string): Statement {
    const known = this.#known.get(sql);
    if (known !== undefined) return known;
    const text = this.put(sql);
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
    const statement = { text, name: `holdfast_${hash}` };
    this.#known.set(sql, statement);
    return statement;
  }

  put(sql: string): string {
    return sql.replaceAll("holdfast.", `"${this.name}".`);
  }
}

export interface Statement {
  readonly text: string;
  readonly name: string;
}
