/**
 * What a tarball has besides `dist`: a manifest without the way to the sources, and the files that stand
 * at the root of the repository for all packages.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

const SOURCE_CONDITION = "@holdfast/source";
const root = fileURLToPath(new URL("..", import.meta.url));

/** Files and folders. The pages are among them: a README without them is full of links to nowhere. */
export const SHARED_FILES = ["README.md", "LICENSE", "CHANGELOG.md", "docs"];

/** The manifest of a package as users get it. */
export function publishedManifest(file: string): string {
  const {
    exports,
    scripts: _ours,
    ...manifest
  } = JSON.parse(readFileSync(file, "utf8")) as {
    readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
    readonly scripts?: unknown;
  };
  const published = Object.entries(exports).map(([path, target]) => {
    if (typeof target === "string") return [path, target];
    const { [SOURCE_CONDITION]: _source, ...conditions } = target;
    return [path, conditions];
  });
  return `${JSON.stringify({ ...manifest, exports: Object.fromEntries(published) }, null, 2)}\n`;
}

/** Writes them into a folder that has, or will have, the package's `dist`. */
export function writePackageFiles(manifestFile: string, folder: string): void {
  writeFileSync(join(folder, "package.json"), publishedManifest(manifestFile));
  for (const file of SHARED_FILES) {
    cpSync(join(root, file), join(folder, file), { recursive: true });
  }
}
