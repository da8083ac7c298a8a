import { Readable } from "node:stream";

/** A request's body whose length is known and which can be sent again: it is opened anew for every attempt. */
export interface RequestBody {
  contentType: string;
  length: number;
  /** The body itself where it holds no file: then there is nothing to stream. */
  text?: string;
  /** Pieces in order. Rejects only when one of our own files cannot be read. */
  pieces(): AsyncIterable<string | Uint8Array>;
}

/**
 * The body as a stream for one attempt. A failure to read our own file is told to `onSourceError` first: the connection
 * that breaks off because of it would otherwise look like the upstream's fault.
 */
export function openBody(body: RequestBody, onSourceError: (error: unknown) => void): Readable {
  async function* guarded() {
    try {
      yield* body.pieces();
    } catch (error) {
      onSourceError(error);
      throw error;
    }
  }
  const stream = Readable.from(guarded(), { objectMode: false });
  // Whoever sends it is told by the connection's own failure; an unheard error would end the process.
  stream.on("error", () => {});
  return stream;
}
