/** Nothing, not yet, not possible: each says why, and what would change it. */
import type { ComponentChildren } from "preact";
import { ApiError } from "../api/api-error.ts";
import type { Loaded } from "../state/use-load.ts";

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <b>{title}</b>
      {children !== undefined && <div>{children}</div>}
    </div>
  );
}

export function Failed({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <div class="state" role="alert">
      <b>{titleOf(error)}</b>
      <div class="any">{error.message}</div>
      {retry && (
        <button type="button" class="btn small" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

function titleOf(error: Error): string {
  if (!(error instanceof ApiError)) return "Something went wrong here.";
  if (error.status === 0) return "No answer.";
  if (error.status === 403) return "Your role does not allow this any more.";
  if (error.status === 404) return "This is not there.";
  if (error.status === 501) return "This store or version cannot do that.";
  if (error.code === "query_timeout") return "This takes too long: ask for less.";
  if (error.status === 503) return "The store is away.";
  return "The server refused.";
}

interface ContentProps<Data> {
  readonly of: Loaded<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

/** Old content stays, greyed, while new content comes; an error stands above what is still known. */
export function Content<Data>({ of, children }: ContentProps<Data>) {
  const { data, error, isOld, reload } = of;
  if (data === null) {
    if (error) return <Failed error={error} retry={reload} />;
    return (
      <div class="state" aria-busy="true">
        Loading …
      </div>
    );
  }
  return (
    <>
      {error && (
        <div class="notice" role="alert">
          {titleOf(error)} What is shown is older.{" "}
          <button type="button" class="link" onClick={reload}>
            Try again
          </button>
        </div>
      )}
      <div class={isOld ? "is-old" : ""} aria-busy={isOld}>
        {children(data)}
      </div>
    </>
  );
}
