/** Which installation this is: its name and colour are in the header, the title and the icon. */
import { setBase } from "../api/client.ts";

export interface Environment {
  readonly name: string;
  readonly color: string;
  readonly isProduction: boolean;
}

const RED = "#c02b2b";
const GREY = "#5b5f66";

interface Told {
  readonly base?: string;
  readonly environment?: {
    readonly name: string;
    readonly color?: string;
    readonly isProduction?: boolean;
  } | null;
  readonly login?: LoginPlace;
}

/** Where people log in and out, if not here. */
export interface LoginPlace {
  readonly url: string;
  readonly logoutUrl?: string;
}

const told = readTold();
export const loginPlace: LoginPlace | null = told.login ?? null;

/** Null: it has no name. */
export const environment: Environment | null = readEnvironment();

function readTold(): Told {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="holdfast"]');
  const read = parsed(meta?.content ?? "");
  setBase(read.base ?? ".");
  return read;
}

function readEnvironment(): Environment | null {
  if (!told.environment) return null;
  const { name } = told.environment;
  const isProduction = told.environment.isProduction ?? /^prod/i.test(name);
  return { name, isProduction, color: told.environment.color ?? (isProduction ? RED : GREY) };
}

function parsed(text: string): Told {
  try {
    return JSON.parse(text) as Told;
  } catch {
    return {};
  }
}

/** Tabs are told apart by their icons. */
export function showEnvironment(): void {
  const color = environment?.color ?? GREY;
  document.documentElement.style.setProperty("--env-given", color);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="${color}"/><path d="M5 4v8M11 4v8M5 8h6" stroke="#fff" stroke-width="2"/></svg>`;
  const icon = document.querySelector<HTMLLinkElement>("#icon");
  if (icon) icon.href = `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

export function showTitle(page: string): void {
  const parts = [page, environment?.name, "Holdfast"];
  document.title = parts.filter((part) => part !== undefined && part !== "").join(" · ");
}
