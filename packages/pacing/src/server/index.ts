/** Simulations over HTTP: a mount of `@holdfast/server`. */
export { pacingMount, type PacingMountOptions } from "./pacing-mount.ts";
