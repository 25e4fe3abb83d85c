/** The part of `pg` that the target uses, by shape. */
import { ImportTargetError } from "../errors.ts";

export interface PoolLike {
  connect(): Promise<ClientLike>;
  end(): Promise<void>;
}

export interface ClientLike {
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
  release(destroy?: Error): void;
  on?(event: "error", listener: () => void): unknown;
  removeListener?(event: "error", listener: () => void): unknown;
}

interface PgModule {
  readonly default: {
    readonly Pool: new (options: object) => PoolLike & {
      on(event: "error", listener: () => void): unknown;
    };
  };
}

/** Loaded when it is needed: who brings a pool brings the driver. */
export async function openPool(url: string): Promise<PoolLike> {
  const { Pool } = (await loadPg()).default;
  const pool = new Pool({
    ...{ connectionString: url, max: 4, allowExitOnIdle: true, keepAlive: true },
    ...{ connectionTimeoutMillis: 10_000, application_name: "holdfast imports" },
  });
  // An idle connection that ends is made again when it is needed.
  pool.on("error", () => {});
  return pool;
}

async function loadPg(): Promise<PgModule> {
  const name = "pg";
  try {
    return (await import(name)) as PgModule;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new ImportTargetError("postgresTarget({ url }) needs the package pg: npm install pg", {
      cause: error,
    });
  }
}

/** As the server reads it for a column of any type. */
export function sqlText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return value;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The five characters by which the server names an error. */
export function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : "";
}

/**
 * A value that its column or its index (54000) cannot take, a constraint, an exception of a trigger: this row's
 * fault, and not the others'. Two rows that are one only in the eyes of the table (`citext`) are written one after the other, too.
 */
export function isRowFault(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error)) || ["21000", "54000", "P0001"].includes(codeOf(error));
}

/** Deadlocks, and transactions that could not be put in an order. */
export function isWorthAnotherTry(error: unknown): boolean {
  return ["40P01", "40001"].includes(codeOf(error));
}
