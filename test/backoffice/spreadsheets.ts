/** Spreadsheets as people send them, and callers who send them. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeXlsx } from "hucre";
import type { Answer, Office, Who } from "./office.ts";

export type Cells = readonly (readonly (string | number)[])[];

const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

export async function workbook(rows: Cells, sheet = "Sheet1"): Promise<Buffer> {
  return Buffer.from(await writeXlsx({ sheets: [{ name: sheet, rows: rows as never }] }));
}

/** No cell of ours has a comma. */
export function csv(rows: Cells): string {
  return rows.map((row) => `${row.join(",")}\n`).join("");
}

/** Into the inbox of a back office. */
export async function lay(office: Office, name: string, content: Buffer | string): Promise<string> {
  const path = join(office.inbox, name);
  await writeFile(path, content);
  return path;
}

export interface Upload {
  readonly name: string;
  readonly content: Buffer | string;
  readonly type?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** As `curl -F file=@name` sends it. */
export async function upload(office: Office, who: Who | null, one: Upload): Promise<Answer> {
  const { name, content, type = name.endsWith(".csv") ? "text/csv" : XLSX, fields = {} } = one;
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set("file", new Blob([new Uint8Array(Buffer.from(content))], { type }), name);
  const response = await fetch(`${office.url}/api/v1/imports/xlsx/upload`, {
    ...{ method: "POST", body: form },
    headers: who === null ? {} : { authorization: `Bearer ${await office.tokenOf(who)}` },
  });
  return {
    status: response.status,
    body: (await response.json()) as unknown,
    headers: response.headers,
  };
}
