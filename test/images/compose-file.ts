/** `compose.yaml` as compose reads it, anchors resolved. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";

export interface Service {
  readonly build?: { readonly context: string; readonly target: string };
  readonly image: string;
  readonly command?: readonly string[];
  readonly profiles: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly init?: boolean;
  readonly stop_grace_period?: string;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export function readCompose(file: URL): ComposeFile {
  return parse(readFileSync(file, "utf8"), { merge: true }) as ComposeFile;
}

/** What the service of a profile gets, with the caller's own variables put in: `${JWT_SECRET:-}`. */
export function environmentOf(
  { environment = {} }: Service,
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const filled = Object.entries(environment).map(([name, value]) => [
    name,
    value.replaceAll(/\$\{(\w+):-\}/g, (_, variable: string) => own[variable] ?? ""),
  ]);
  return Object.fromEntries(filled) as Record<string, string>;
}
