/** Imports over HTTP: a mount of `@holdfast/server`. */
export { importsMount } from "./imports-mount.ts";
