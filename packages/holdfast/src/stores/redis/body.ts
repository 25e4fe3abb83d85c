/**
 * What of a job never changes and no script looks at, in one text: `-` and the payload, or `+`, a line
 * of JSON and the payload. The payload is last and as it is: its bytes are a user's.
 */
export interface Body {
  readonly payload: string;
  readonly meta: string | null;
  readonly trace: string | null;
}

export function bodyOf({ payload, meta, trace }: Body): string {
  if (meta === null && trace === null) return `-${payload}`;
  return `+${JSON.stringify([meta, trace])}\n${payload}`;
}

export function readBody(text: string): Body {
  if (text.startsWith("-")) return { payload: text.slice(1), meta: null, trace: null };
  const end = text.indexOf("\n");
  const [meta, trace] = JSON.parse(text.slice(1, end)) as [string | null, string | null];
  return { payload: text.slice(end + 1), meta, trace };
}
