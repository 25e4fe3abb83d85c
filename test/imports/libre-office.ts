/** LibreOffice as a writer of workbooks and as a second opinion on what is in one. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Comma, double quotes, UTF-8, from the first line; texts quoted only where they must be, values as they are and not as
 * they are shown, every sheet into a file of its own.
 */
const CSV = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1";

export function hasLibreOffice(): boolean {
  return spawnSync("soffice", ["--version"]).status === 0;
}

export function convert(files: readonly string[], to: "xlsx" | "csv", folder: string): void {
  // A profile of its own: another LibreOffice that runs on this machine is none of our business.
  const profile = mkdtempSync(join(tmpdir(), "holdfast-office-"));
  try {
    const { status, stderr } = spawnSync(
      "soffice",
      [
        ...[`-env:UserInstallation=file://${profile}`, "--headless"],
        ...["--convert-to", to === "csv" ? CSV : "xlsx:Calc MS Excel 2007 XML"],
        ...["--outdir", folder, ...files],
      ],
      { encoding: "utf8", timeout: 300_000 },
    );
    if (status !== 0) throw new Error(`soffice ended with ${status}: ${stderr}`);
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
}
