/**
 * The dashboard's files, read from the package once and kept: each by its name, as it is and compressed. Only
 * names that were found there are answered, so no path leads anywhere else.
 */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

export interface DashboardFile {
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Null: it would not get smaller. */
  readonly gzipped: Uint8Array<ArrayBuffer> | null;
}

export interface DashboardFiles {
  /** The page, with its marks not yet filled in. */
  readonly page: string;
  readonly assets: ReadonlyMap<string, DashboardFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** In the published package beside this file; in the repository where the build puts it. */
const PLACES = ["./dashboard/", "../dist/dashboard/"];

let reading: Promise<DashboardFiles | null> | null = null;

/** Null: this package was not built, so there are none. */
export function dashboardFiles(): Promise<DashboardFiles | null> {
  reading ??= readFiles().then((files) => {
    // A build that comes later is found.
    if (files === null) reading = null;
    return files;
  });
  return reading;
}

async function readFiles(): Promise<DashboardFiles | null> {
  const folder = PLACES.map((place) => new URL(place, import.meta.url)).find((place) =>
    existsSync(new URL("index.html", place)),
  );
  if (folder === undefined) return null;
  const names = await readdir(new URL("assets/", folder));
  const known = names.filter((name) => TYPES[extensionOf(name)] !== undefined);
  const files = await Promise.all(
    known.map(async (name) => [name, await readAsset(new URL(`assets/${name}`, folder))] as const),
  );
  return {
    page: await readFile(new URL("index.html", folder), "utf8"),
    assets: new Map(files),
  };
}

async function readAsset(place: URL): Promise<DashboardFile> {
  const bytes = new Uint8Array(await readFile(place));
  const small = new Uint8Array(await promisify(gzip)(bytes, { level: 9 }));
  return {
    contentType: TYPES[extensionOf(place.pathname)] ?? "application/octet-stream",
    bytes,
    gzipped: small.length < bytes.length ? small : null,
  };
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}
