/** Does something that was asked for, and says what came of it. */
import { tell, tellError, type Toast } from "./toasts.ts";

/** Null: it failed, and was told. */
export async function act<Out>(
  work: () => Promise<Out>,
  /** What to say when it is done. */
  done: string | ((out: Out) => string),
  link: Toast["link"] | ((out: Out) => Toast["link"]) = null,
): Promise<Out | null> {
  try {
    const out = await work();
    tell(
      typeof done === "function" ? done(out) : done,
      typeof link === "function" ? link(out) : link,
    );
    return out;
  } catch (error) {
    tellError(error);
    return null;
  }
}
