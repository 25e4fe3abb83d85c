/** In the repository packages are found by their sources: nothing needs a build but the application itself. */
import { registerHooks } from "node:module";

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, { ...context, conditions: ["@holdfast/source", ...context.conditions] }),
});
