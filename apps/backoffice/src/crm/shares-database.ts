/** Whether a transaction of the business can hold jobs as well: both are in one database. */
import { resolve } from "node:path";
import type { Settings } from "../config/settings.ts";

export function sharesDatabase({
  jobsUrl,
  dataUrl,
}: Pick<Settings, "jobsUrl" | "dataUrl">): boolean {
  return placeOf(jobsUrl) === placeOf(dataUrl);
}

/** Options and credentials do not say where a database is. */
function placeOf(url: string): string {
  const [, scheme = "", rest = ""] = /^([a-z+]+):(.*)$/is.exec(url) ?? [];
  const [place = ""] = rest.split("?");
  if (scheme.toLowerCase() === "sqlite")
    return `sqlite:${resolve(place.replace(/^\/\/(?=.)/, ""))}`;
  const kind = scheme.toLowerCase().replace("postgresql", "postgres");
  return `${kind}:${place.replace(/^\/\/[^/]*@/, "//").replace(/\/+$/, "")}`;
}
