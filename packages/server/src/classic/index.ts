export { classic } from "./classic.ts";
export type { ClassicOptions } from "./classic.ts";
