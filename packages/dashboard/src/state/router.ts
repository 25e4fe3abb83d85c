/** The address is the state: a page, its thing, its filters. It can be sent to a colleague, and Back works. */
import { cell, useCell } from "./cell.ts";

export interface Place {
  /** `["jobs", "019a…"]`. */
  readonly path: readonly string[];
  readonly params: Readonly<Record<string, string>>;
}

export type Params = Readonly<Record<string, string | null | undefined>>;

function placeOf(hash: string): Place {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return {
    path: path.split("/").filter(Boolean).map(decoded),
    params: Object.fromEntries(new URLSearchParams(search)),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const place = cell(placeOf(location.hash));

addEventListener("hashchange", () => place.set(placeOf(location.hash)));

export function usePlace(): Place {
  return useCell(place);
}

export function currentPlace(): Place {
  return place.get();
}

/** `href(["jobs", id])`, `href(["jobs"], { q: "status:dead" })`. */
export function href(path: readonly string[], params: Params = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, value);
  }
  const text = search.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

export function go(to: string, { isReplacing = false } = {}): void {
  if (!isReplacing) {
    location.hash = to;
    return;
  }
  history.replaceState(null, "", to);
  place.set(placeOf(to));
}

/** Changes some of the parameters; what becomes empty goes. */
export function setParams(changes: Params, options: { readonly isReplacing?: boolean } = {}): void {
  const { path, params } = place.get();
  go(href(path, { ...params, ...changes }), options);
}

export function useParam(name: string): string {
  return usePlace().params[name] ?? "";
}
