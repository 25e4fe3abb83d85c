/** One kind of file that the reader must read as other programs do. */
export interface Shape {
  /** Also the name of LibreOffice's files in the corpus. */
  readonly name: string;
  readonly make: () => Buffer | Promise<Buffer>;
  /** Which sheet is read; the first visible one unless told otherwise. */
  readonly sheet?: string;
  readonly headerRow?: number;
  /** LibreOffice does not open it, so the corpus has nothing of it. */
  readonly isClosedToLibreOffice?: boolean;
}
