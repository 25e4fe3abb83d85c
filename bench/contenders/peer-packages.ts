/** Peers are installed only in this folder, and only by `npm run bench`: a clone may be without them. */

/** Why a contender that needs these packages cannot take part; null if it can. */
export function missingPackages(...names: readonly string[]): string | null {
  try {
    for (const name of names) import.meta.resolve(name);
    return null;
  } catch {
    return "not installed; `npm ci` in bench/ does it";
  }
}

/** By a name that is not a literal: types of packages that may be absent must not be looked up. */
export function load(name: string): Promise<unknown> {
  return import(name);
}

/** In pieces of at most so many. */
export function* pieces<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
}
