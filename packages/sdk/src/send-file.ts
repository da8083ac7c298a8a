import type { Frame } from "./form.ts";

/** Bytes that are read once, while they are sent: a stream of the platform, or of Node, or a generator. */
export type FileStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>;

/** What a file is made of. Text is sent as UTF-8. */
export type FileContent = Blob | ArrayBuffer | ArrayBufferView | string | FileStream;

/**
 * Sends a file within its frame. A stream is asked for the next piece when the last one has gone out, and is closed when
 * the sending has ended, however it ended. What it throws itself is what the caller gets, and no file comes of it.
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
  /** Also while `next` is waiting; it does not fail, and after it nothing that `next` says matters. */
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
      // A stream of Node that waits for its next piece would only hear of `return` when that has come.
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
    // A stream that is closed under its reader may say so; that is no reason of its own.
    if (!source.isClosed) onFailure(thrown);
    throw thrown;
  }
  // One that was closed looks as if it had ended, and must not become a file that is whole.
  if (source.isClosed) throw new Error("The file was left before its end");
  if (after !== "") yield encoder.encode(after);
}
