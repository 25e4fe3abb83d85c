/** What the providers of this package are found by, besides their classes. */
export const OPTIONS = Symbol.for("@holdfast/nestjs: options");
export const MAKER = Symbol.for("@holdfast/nestjs: maker");
export const MADE = Symbol.for("@holdfast/nestjs: made");
/** One for each `forFeature`; its value is the list of contracts. */
export const FEATURE = "@holdfast/nestjs: feature";
