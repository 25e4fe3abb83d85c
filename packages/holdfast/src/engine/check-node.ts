/** One clear sentence instead of a strange error deep inside. */
import { UnsupportedError } from "../core/errors.ts";

const OLDEST = [22, 13] as const;

export function checkNode(version: string = process.versions.node): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw new UnsupportedError(
    `Holdfast needs Node ${OLDEST.join(".")} or newer, and this is ${version}: update Node`,
  );
}
