/** Tries again what a lost reply or a moment without the store has failed, and what may be done twice. */
import { isRetryable, sleep, type ExtensionHost } from "../../engine/extension.ts";

const TRIES = 4;
const AGAIN_MS = 200;

export async function patiently<Out>(
  { runtime }: Pick<ExtensionHost, "runtime">,
  act: () => Promise<Out>,
): Promise<Out> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act();
    } catch (error) {
      if (!isRetryable(error) || tries === TRIES) throw error;
      await sleep(runtime, tries * AGAIN_MS);
    }
  }
}
