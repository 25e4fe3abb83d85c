/** A page elsewhere can make a browser send a request; it cannot make it lie about where that page is. */
import { ForbiddenException } from "@nestjs/common";
import type { IdentifiedRequest } from "./identity.ts";

export function refuseForeignPage(headers: IdentifiedRequest["headers"]): void {
  const site = headers["sec-fetch-site"];
  const isOwn = site === undefined || site === "same-origin" || site === "none";
  // Of a token of its own a page elsewhere knows nothing.
  if (isOwn || headers["authorization"] !== undefined) return;
  throw new ForbiddenException("a browser may ask this from a page of the back office only");
}
