import { notFound } from "../http/http-error.ts";
import { z } from "zod";
import { done } from "./words.ts";
import { route } from "./route.ts";

/** Also here a caller must be known first: what exists is not for everybody to find out. */
export const NO_SUCH_ROUTE = route({
  ...{ method: "GET", path: "/*", role: "viewer", summary: "Everything else is not there." },
  ...{ query: z.looseObject({}), body: null, answer: done, scope: "own", audit: null },
  run: () => Promise.reject(notFound("route of this name")),
});
