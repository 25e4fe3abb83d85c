/**
 * One listener. What waits for it is bounded: of overviews only the newest, of other events so many; a listener
 * that reads more slowly than that loses what waited, and is told to load the page anew.
 */
const MOST_WAITING = 200;
const TEXT = new TextEncoder();

export interface StreamEvent {
  readonly id: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

export function encodeEvent(id: string, name: string, data: unknown): StreamEvent {
  // JSON text has no line breaks of its own.
  const text = `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  return { id, name, bytes: TEXT.encode(text) };
}

export class EventClient {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #waiting: StreamEvent[] = [];
  #overview: StreamEvent | null = null;
  #isWanting = false;
  #isOver = false;
  readonly #onEnd: () => void;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          controller.enqueue(TEXT.encode(": Holdfast\nretry: 2000\n\n"));
        },
        pull: () => {
          this.#isWanting = true;
          this.#hand();
        },
        cancel: () => this.#end(),
      },
      { highWaterMark: 1 },
    );
  }

  /** How many events wait. */
  get waiting(): number {
    return this.#waiting.length + (this.#overview ? 1 : 0);
  }

  send(event: StreamEvent): void {
    if (this.#isOver) return;
    if (event.name === "overview") {
      this.#overview = event;
    } else if (this.#waiting.length >= MOST_WAITING) {
      this.#waiting = [encodeEvent(event.id, "reset", { reason: "you read too slowly" })];
    } else {
      this.#waiting.push(event);
    }
    this.#hand();
  }

  /** A comment, so that proxies and dead connections are noticed. */
  beat(): void {
    if (this.#isWanting && this.waiting === 0) this.#write(TEXT.encode(": \n\n"));
  }

  close(): void {
    if (this.#isOver) return;
    this.#end();
    try {
      this.#controller?.close();
    } catch {
      // Its reader has let go already.
    }
  }

  #hand(): void {
    if (!this.#isWanting) return;
    const next = this.#waiting.shift() ?? this.#overview;
    if (!next) return;
    if (next === this.#overview) this.#overview = null;
    this.#write(next.bytes);
  }

  #write(bytes: Uint8Array): void {
    this.#isWanting = false;
    this.#controller?.enqueue(bytes);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = [];
    this.#overview = null;
    this.#onEnd();
  }
}
