/** What is installed here. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Command } from "../command.ts";

export const version: Command = {
  name: "version",
  summary: "says which versions are installed",
  examples: ["version", "version --json"],
  async run(cli) {
    const found = {
      cli: ownVersion(),
      holdfast: versionOf("holdfast"),
      node: process.versions.node,
    };
    cli.print(found, () =>
      Object.entries(found)
        .map(([name, words]) => `${name.padEnd(9)} ${words}`)
        .join("\n"),
    );
  },
};

export function ownVersion(): string {
  return readVersion(new URL("../../package.json", import.meta.url));
}

function versionOf(name: string): string {
  const require = createRequire(import.meta.url);
  return readVersion(require.resolve(`${name}/package.json`));
}

function readVersion(file: string | URL): string {
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
