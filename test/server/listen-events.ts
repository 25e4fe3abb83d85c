/** Listens to a server's events, and takes them one by one. */
import { ADMIN_TOKEN } from "./served.ts";

export interface Heard {
  readonly id: string;
  readonly name: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a server sends is read as it comes
  readonly data: any;
}

export interface Ear {
  /** The next event of this name. */
  next(name: string): Promise<Heard>;
  /** The next event, whichever it is. */
  any(): Promise<Heard>;
  close(): void;
}

export async function listenTo(
  url: string,
  path = "",
  headers: Readonly<Record<string, string>> = {},
  /** Null: none. */
  token: string | null = ADMIN_TOKEN,
): Promise<Ear> {
  const abort = new AbortController();
  const answer = await fetch(`${url}/api/v1/events${path}`, {
    headers: { ...(token !== null && { authorization: `Bearer ${token}` }), ...headers },
    signal: abort.signal,
  });
  const type = answer.headers.get("content-type") ?? "";
  if (!type.includes("text/event-stream")) throw new Error(`${answer.status}, ${type}`);
  const heard = parsedEvents(answer.body as ReadableStream<Uint8Array>);
  const next = async (name: string | null): Promise<Heard> => {
    for (;;) {
      const { value, done } = await heard.next();
      // Names the answer: once nobody has that any more, and nobody reads yet, Node ends its stream.
      if (done)
        throw new Error(`it ended before ${name ?? "anything"} came, of a ${answer.status}`);
      if (name === null || value.name === name) return value;
    }
  };
  return {
    next,
    any: () => next(null),
    close: () => abort.abort(),
  };
}

export async function* parsedEvents(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Heard, undefined> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const part of stream) {
    text += decoder.decode(part, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const field = (name: string) =>
        block
          .split("\n")
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const name = field("event");
      if (name) yield { id: field("id") ?? "", name, data: JSON.parse(field("data") ?? "null") };
    }
  }
}
