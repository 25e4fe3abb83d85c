/**
 * A browser for tests, by the first way that works: `HOLDFAST_TEST_CHROMIUM` names one; one of this machine;
 * on Debian as root `apt-get install chromium`.
 */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fromDebianPackage } from "./debian-package.ts";

const VARIABLE = "HOLDFAST_TEST_CHROMIUM";
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Where it is; null: there is none, and no way to get one. */
export async function chromiumBinary(): Promise<string | null> {
  const given = process.env[VARIABLE];
  if (given !== undefined && given !== "") return given;
  const find = () => {
    const folders = (process.env["PATH"] ?? "").split(delimiter);
    const places = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
    return places.find((place) => existsSync(place)) ?? null;
  };
  return find() ?? (await fromDebianPackage("chromium", find).catch(() => null));
}
