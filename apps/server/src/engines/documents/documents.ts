/** What the bytes are: decided by the bytes first, then by the name, then by the declared type. */
export type DocumentFormat = "text" | "markdown" | "html" | "pdf" | "docx";

export interface DocumentPage {
  /** From 1, in formats with pages. */
  page?: number;
  /** Markdown for HTML and Word, otherwise the text as it is. */
  text: string;
}

export interface ReadDocument {
  format: DocumentFormat;
  /** At least one; their texts may be empty. */
  pages: readonly DocumentPage[];
  title?: string;
  /** The document is longer than the bounds, and its end is missing. */
  isCut: boolean;
}

export interface Chunk {
  page: number | null;
  /** From 1, on the page in a format with pages. Null where the text is not that of the file. */
  lineFrom: number | null;
  lineTo: number | null;
  /** The headings above the chunk, from the outermost. */
  heading: string | null;
  text: string;
}

export interface ChunkedDocument extends Pick<ReadDocument, "format" | "isCut"> {
  /** A bounded number; none if the document has no text. */
  chunks: readonly Chunk[];
}

export interface DocumentName {
  name?: string | undefined;
  /** The declared media type, with its charset if known. */
  type?: string | undefined;
  /** The address of a web page: links become absolute, and only the main content is kept. */
  url?: string | undefined;
}

/** `unsupported`: such a file does not contain text. `unreadable`: the file is damaged, or too large to be read. */
export class DocumentError extends Error {
  readonly kind: "unsupported" | "unreadable";

  constructor(kind: DocumentError["kind"], message: string) {
    super(message);
    this.name = "DocumentError";
    this.kind = kind;
  }
}

/** 50 MB. */
export const maxDocumentBytes = 52_428_800;
export const mostDocumentsAtOnce = 2;

export interface ReadOptions {
  userId?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The documents port turns files into text. Drivers guarantee:
 * - a document that cannot be read rejects with a `DocumentError`, whose message is a sentence for its owner;
 * - no document blocks the event loop, runs without an end or takes unbounded memory;
 * - documents of one user do not delay those of others;
 * - the text is well-formed Unicode without NUL characters, with `\n` as line break;
 * - if reading is temporarily impossible, the fault is `service_unavailable`.
 */
export interface Documents {
  read(bytes: Uint8Array, named: DocumentName, options?: ReadOptions): Promise<ReadDocument>;
  /** The text in overlapping parts, for a search. */
  readChunks(bytes: Uint8Array, named: DocumentName, options?: ReadOptions): Promise<ChunkedDocument>;
  close(): Promise<void>;
}
