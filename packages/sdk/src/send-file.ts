import type { Frame } from "./form.ts";

/** Bytes that are read once, while they are sent: a web stream, a Node stream or a generator. */
export type FileStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>;

/** Text is sent as UTF-8. */
export type FileContent = Blob | ArrayBuffer | ArrayBufferView | string | FileStream;

/**
 * Sends a file in its frame. Reads a stream at the pace of the connection and always closes it. Errors of the stream
 * reach the caller, and no file is created.
 */
export async function sendFile<T>(
  content: FileContent,
  { before, after }: Pick<Frame, "before" | "after">,
  send: (body: Blob | ReadableStream<Uint8Array>) => Promise<T>,
): Promise<T> {
  if (isReadAgain(content)) return send(new Blob([before, content as Blob, after]));
  const source = openSource(content);
  const failed: { reason: unknown }[] = [];
  const steps = framed(source, { before, after }, (reason) => failed.push({ reason }));
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await steps.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: source.close,
    },
    { highWaterMark: 0 },
  );
  try {
    return await send(body);
  } catch (thrown) {
    throw failed[0] ? failed[0].reason : thrown;
  } finally {
    source.close();
  }
}

export function typeOfContent(content: FileContent): string {
  return content instanceof Blob ? content.type : "";
}

function isReadAgain(content: FileContent): content is Exclude<FileContent, FileStream> {
  return (
    typeof content === "string" ||
    content instanceof Blob ||
    content instanceof ArrayBuffer ||
    ArrayBuffer.isView(content)
  );
}

interface Source {
  next(): Promise<Uint8Array | string | undefined>;
  /** May be called while `next` waits; does not fail, and later results of `next` are ignored. */
  close(): void;
  readonly isClosed: boolean;
}

function openSource(stream: FileStream): Source {
  const { next, stop } = stream instanceof ReadableStream ? openWebStream(stream) : openIterable(stream);
  let isClosed = false;
  return {
    next,
    close() {
      if (!isClosed) stop().catch(() => {});
      isClosed = true;
    },
    get isClosed() {
      return isClosed;
    },
  };
}

function openWebStream(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  return { next: async () => (await reader.read()).value, stop: () => reader.cancel() };
}

function openIterable(stream: AsyncIterable<Uint8Array | string>) {
  const pieces = stream[Symbol.asyncIterator]();
  return {
    async next() {
      const { done, value } = await pieces.next();
      return done ? undefined : value;
    },
    async stop() {
      // A waiting Node stream would only handle `return` after its next chunk.
      (stream as { destroy?: () => unknown }).destroy?.();
      await pieces.return?.();
    },
  };
}

async function* framed(
  source: Source,
  { before, after }: Pick<Frame, "before" | "after">,
  onFailure: (reason: unknown) => void,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  if (before !== "") yield encoder.encode(before);
  try {
    for (let piece = await source.next(); piece !== undefined; piece = await source.next()) {
      yield typeof piece === "string" ? encoder.encode(piece) : piece;
    }
  } catch (thrown) {
    // A stream may fail when it is closed; the original reason matters.
    if (!source.isClosed) onFailure(thrown);
    throw thrown;
  }
  // A closed stream looks complete, but must not become a complete file.
  if (source.isClosed) throw new Error("The upload ended before the end of the file");
  if (after !== "") yield encoder.encode(after);
}
