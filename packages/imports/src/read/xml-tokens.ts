/**
 * Takes XML apart as it arrives, over bytes: most of a sheet are numbers and tags that never become strings. It knows
 * what workbooks use: elements, attributes, text, CDATA, comments, instructions. A document type is refused, and with
 * it every entity but the five that XML itself has.
 *
 * It stops where its sink asks it to (`pause`), so that a piece of a file never becomes more rows than its reader
 * wants at once.
 */
import { SheetFault, damaged } from "./sheet-fault.ts";
import { XmlTag } from "./xml-tag.ts";

export interface XmlSink {
  /** An element begins. The tag is valid during the call. */
  readonly open: (name: string, tag: XmlTag) => void;
  readonly close: (name: string) => void;
  /** A piece of text; a text may come in several. `isRaw` is text of a CDATA section. */
  readonly text: (data: Buffer, from: number, to: number, isRaw: boolean) => void;
  /**
   * An element that the sink takes as a whole, because it is written as nearly all of its kind are: asked first at each
   * opening tag, answers where the element ends, or -1 where its tags are to be read one by one.
   */
  readonly whole?: (data: Buffer, at: number) => number;
}

const LESS = 60;
const GREATER = 62;
const SLASH = 47;
const COLON = 58;
const EQUALS = 61;
const EXCLAMATION = 33;
const QUESTION = 63;
const SPACE = 32;
const DOUBLE_QUOTE = 34;
const SINGLE_QUOTE = 39;
const MAX_DEPTH = 64;
/** Of a tag, a comment or a CDATA section. */
const MAX_TOKEN_BYTES = 1024 * 1024;
/** The token goes on in the next piece. */
const INCOMPLETE = -1;
const NOT_WHOLE = -1;

export class XmlTokens {
  readonly #open: XmlSink["open"];
  readonly #close: XmlSink["close"];
  readonly #text: XmlSink["text"];
  readonly #whole: NonNullable<XmlSink["whole"]>;
  readonly #tag = new XmlTag();
  readonly #path: string[] = [];
  /** Short names by their bytes, so that each is one string and made once. */
  readonly #names = new Map<number, string>();
  readonly #letters: (string | undefined)[] = Array.from({ length: 256 }, () => undefined);
  #data: Buffer = Buffer.alloc(0);
  #at = 0;
  #hasRoot = false;
  #isPaused = false;

  constructor(sink: XmlSink) {
    this.#open = sink.open;
    this.#close = sink.close;
    this.#text = sink.text;
    this.#whole = sink.whole ?? notWhole;
  }

  /** The next piece of the file. What was incomplete is read again, with it. */
  feed(chunk: Buffer): void {
    const rest = this.#data.subarray(this.#at);
    this.#data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    this.#at = 0;
  }

  /** Called by the sink: `run` returns before the next tag. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Reads what was fed. False if it was paused: then it is called again. */
  run(): boolean {
    this.#isPaused = false;
    const data = this.#data;
    const end = data.length;
    let at = this.#at;
    while (at < end) {
      if (data[at] === LESS) {
        if (this.#isPaused) {
          this.#at = at;
          return false;
        }
        let next = data[at + 1] === SLASH ? NOT_WHOLE : this.#whole(data, at);
        if (next === NOT_WHOLE) next = this.#markup(data, at);
        if (next === INCOMPLETE) break;
        at = next;
      } else {
        const from = at;
        do at += 1;
        while (at < end && data[at] !== LESS);
        this.#text(data, from, at, false);
      }
    }
    if (end - at > MAX_TOKEN_BYTES) throw damaged("a tag or a comment has no end");
    this.#at = at;
    return true;
  }

  end(): void {
    const isWhole = this.#hasRoot && this.#path.length === 0 && this.#at === this.#data.length;
    if (!isWhole) throw damaged("a part ends in the middle");
  }

  #markup(data: Buffer, at: number): number {
    const byte = data[at + 1];
    if (byte === SLASH) return this.#closingTag(data, at);
    if (byte === EXCLAMATION) return this.#declaration(data, at);
    if (byte === QUESTION) return this.#instruction(data, at);
    return byte === undefined ? INCOMPLETE : this.#openingTag(data, at);
  }

  #closingTag(data: Buffer, at: number): number {
    // Most close what was opened last, and need no name made of their bytes.
    const last = this.#path[this.#path.length - 1];
    if (last !== undefined && isNamed(data, at + 2, last)) {
      this.#path.pop();
      this.#close(last);
      return at + 3 + last.length;
    }
    const end = data.length;
    let to = at + 2;
    let from = to;
    while (to < end && data[to] !== GREATER) {
      if (data[to] === COLON) from = to + 1;
      to += 1;
    }
    if (to === end) return INCOMPLETE;
    let nameTo = to;
    while (nameTo > from && data[nameTo - 1]! <= SPACE) nameTo -= 1;
    const name = this.#name(data, from, nameTo);
    if (this.#path.pop() !== name) throw damaged("a part has tags that do not match");
    this.#close(name);
    return to + 1;
  }

  #openingTag(data: Buffer, at: number): number {
    const end = data.length;
    const tag = this.#tag;
    let to = at + 1;
    let from = to;
    let byte = 0;
    for (; to < end; to += 1) {
      byte = data[to]!;
      if (byte === COLON) from = to + 1;
      else if (byte <= SPACE || byte === GREATER || byte === SLASH) break;
    }
    if (to === end) return INCOMPLETE;
    const nameTo = to;
    tag.begin(data);
    for (;;) {
      while (to < end && data[to]! <= SPACE) to += 1;
      if (to === end) return INCOMPLETE;
      byte = data[to]!;
      if (byte === GREATER || byte === SLASH) break;
      to = this.#attribute(data, to);
      if (to === INCOMPLETE) return INCOMPLETE;
    }
    const isEmpty = byte === SLASH;
    if (isEmpty) {
      to += 1;
      if (to === end) return INCOMPLETE;
      if (data[to] !== GREATER) throw damaged("a tag is malformed");
    }
    const name = this.#name(data, from, nameTo);
    if (this.#path.length === 0 && this.#hasRoot) throw damaged("a part has two roots");
    this.#hasRoot = true;
    this.#open(name, tag);
    if (isEmpty) this.#close(name);
    else if (this.#path.push(name) > MAX_DEPTH) throw damaged("a part is nested too deeply");
    return to + 1;
  }

  #attribute(data: Buffer, at: number): number {
    const end = data.length;
    let to = at;
    let from = at;
    for (; to < end; to += 1) {
      const byte = data[to]!;
      if (byte === COLON) from = to + 1;
      else if (byte === EQUALS || byte <= SPACE || byte === GREATER || byte === LESS) break;
    }
    const nameTo = to;
    while (to < end && data[to]! <= SPACE) to += 1;
    if (to === end) return INCOMPLETE;
    if (data[to] !== EQUALS || nameTo === from) throw damaged("a tag is malformed");
    to += 1;
    while (to < end && data[to]! <= SPACE) to += 1;
    if (to === end) return INCOMPLETE;
    const quote = data[to]!;
    if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) throw damaged("a tag is malformed");
    const valueFrom = to + 1;
    to = valueFrom;
    while (to < end && data[to] !== quote) {
      if (data[to] === LESS) throw damaged("a tag is malformed");
      to += 1;
    }
    if (to === end) return INCOMPLETE;
    if (!isNamespace(data, at, from)) this.#tag.add(from, nameTo, valueFrom, to);
    return to + 1;
  }

  #declaration(data: Buffer, at: number): number {
    if (data.length < at + 9) return INCOMPLETE;
    const start = data.toString("latin1", at, at + 9);
    if (start.startsWith("<!--")) return after(data, "-->", at + 4);
    if (start !== "<![CDATA[") {
      throw new SheetFault(
        "entities",
        "The file has a document type, which no workbook needs: it may be an attack",
      );
    }
    const next = after(data, "]]>", at + 9);
    if (next !== INCOMPLETE) this.#text(data, at + 9, next - 3, true);
    return next;
  }

  /** Among them the declaration of the encoding: what is not UTF-8 was made it before. */
  #instruction(data: Buffer, at: number): number {
    const next = after(data, "?>", at + 2);
    if (next === INCOMPLETE || this.#hasRoot) return next;
    const text = data.toString("latin1", at, next);
    const encoding = /^<\?xml\s.*\bencoding\s*=\s*["']([^"']*)["']/s.exec(text)?.[1] ?? "utf-8";
    if (/^(utf-?8|utf-?16(le|be)?|us-ascii)$/i.test(encoding)) return next;
    throw new SheetFault("bad-encoding", `A part of the workbook is written in ${encoding}`);
  }

  #name(data: Buffer, from: number, to: number): string {
    const length = to - from;
    if (length === 1) {
      // Cells, values, texts: most of a sheet.
      const letter = data[from]!;
      return (this.#letters[letter] ??= String.fromCharCode(letter));
    }
    if (length === 0) throw damaged("a tag is malformed");
    if (length > 6) return data.toString("latin1", from, to);
    // Six bytes fit into a number exactly.
    let key = 0;
    for (let at = from; at < to; at += 1) key = key * 256 + data[at]!;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const name = data.toString("latin1", from, to);
    if (this.#names.size < 1_000) this.#names.set(key, name);
    return name;
  }
}

function notWhole(): number {
  return NOT_WHOLE;
}

/** The name and the end of its tag. */
function isNamed(data: Buffer, at: number, name: string): boolean {
  const { length } = name;
  if (data[at + length] !== GREATER) return false;
  for (let one = 0; one < length; one += 1) {
    if (data[at + one] !== name.charCodeAt(one)) return false;
  }
  return true;
}

/** The declarations of prefixes have names that attributes of workbooks have, too. */
function isNamespace(data: Buffer, from: number, nameFrom: number): boolean {
  return nameFrom - from === 6 && data.toString("latin1", from, nameFrom) === "xmlns:";
}

function after(data: Buffer, closing: string, from: number): number {
  const at = data.indexOf(closing, from, "latin1");
  return at === -1 ? INCOMPLETE : at + closing.length;
}
