/** What the programs of the pages import besides Holdfast: installed in `companions`, and only there. */
import { readdirSync } from "node:fs";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hasPackages, installPackages } from "../../scripts/install-packages.mjs";
import { TIER } from "../runner/tier.ts";

const folder = fileURLToPath(new URL("companions", import.meta.url));

/** The full tier installs them; the daily one takes them if they are there. */
export function haveCompanions(): boolean {
  return TIER === "full" ? installPackages(folder) : hasPackages(folder);
}

/** Where a program needs one of them, this says which. */
export async function companionOf(text: string): Promise<string | undefined> {
  const { dependencies } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const imported = [...text.matchAll(/^import .+ from "((?:@[^/"]+\/)?[^/"]+)/gm)];
  return imported.map(([, name = ""]) => name).find((name) => Object.hasOwn(dependencies, name));
}

/** Beside what is there. Each finds what it needs itself where it really is. */
export async function linkCompanions(modules: string): Promise<void> {
  const names = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
  const all = names.flatMap((name) =>
    name.startsWith("@")
      ? readdirSync(join(folder, "node_modules", name)).map((inner) => join(name, inner))
      : [name],
  );
  for (const name of all) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(folder, "node_modules", name), join(modules, name), "junction").catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      },
    );
  }
}
