/**
 * A Holdfast from a URL. Stores are loaded when named, so that a bundler does not chase the drivers
 * of stores nobody uses.
 */
import { InvalidOptionError } from "./core/errors.ts";
import { checkObject } from "./core/option-checks.ts";
import type { Resilience, Settings } from "./holdfast-options.ts";
import type { AnyContract } from "./engine/typed-jobs.ts";
import { Holdfast } from "./holdfast.ts";
import { storeOfUrl } from "./store-of-url.ts";

export { storeOfUrl, type StoreOfUrlOptions } from "./store-of-url.ts";

/**
 * `sqlite:jobs.db`, `sqlite::memory:`, `memory:`, `postgres://user:password@host/database` (with
 * `?schema=jobs`, `&pooler=transaction` and `&viewsIn=public` if need be), `redis://host:6379/0` (with `?prefix=jobs`),
 * `mongodb://host/database`.
 * Resolves once the store is open.
 */
export async function connect<
  const Jobs extends readonly AnyContract[] = readonly [],
  const How extends Resilience | undefined = undefined,
>(
  url: string,
  options: Settings<Jobs> & { readonly resilient?: How | undefined } = {},
): Promise<Holdfast<Jobs, How>> {
  checkObject("what connect takes beside its URL", options);
  if ("store" in options) {
    throw new InvalidOptionError(
      "connect makes the store from its URL: leave store out, or use new Holdfast({ store })",
    );
  }
  const store = await storeOfUrl(url);
  const hf = new Holdfast<Jobs, How>({ ...options, store });
  await hf.info();
  return hf;
}
