import { addAbortSignal, Readable } from "node:stream";
import { fileTypeFromBuffer } from "file-type";
import { parseMediaType, unknownType } from "../../../kernel/media-type.rules.ts";
import type { NetBody } from "../../net/net.ts";
import type { FileOutput, ModelCall } from "../driver.ts";
import type { Mask } from "../mask.ts";
import { broken, requestUpstream } from "../upstream.ts";
import { answerFault, type MediaBackend, maxFileBytesOf } from "./call.ts";
import { decodeDataUri } from "./data-uri.ts";
import { Spool } from "./spool.ts";

export type Media = "image" | "video" | "audio" | "file";

const sampleBytes = 4100;
/** For these containers only the declared type shows the content. */
const containers = new Set(["application/xml", "application/zip", "application/x-cfb"]);
/** An animation is accepted as a video, and a video container as audio. */
const accepted: Readonly<Record<Media, RegExp>> = {
  image: /^image\//,
  video: /^(video\/|image\/(gif|webp|apng)$)/,
  audio: /^(audio|video)\//,
  file: /./,
};

/**
 * A file from an answer: spooled base64, a data URI or a URL. A URL is fetched without the key and without redirects,
 * through the same guard as every outgoing call. Only the backend's own server gets the headers and query of the manifest.
 */
export async function fileFrom(
  backend: MediaBackend,
  call: Pick<ModelCall, "signal">,
  value: unknown,
  media: Media,
): Promise<FileOutput> {
  if (value instanceof Spool) return fromSpool(call, value, media);
  if (typeof value === "string" && /^https?:\/\//i.test(value)) return fileAt(backend, call, value, media);
  const decoded = typeof value === "string" ? decodedOrFault(value) : undefined;
  if (!decoded) throw broken(new Error("The upstream did not answer with a file"));
  const contentType = await typeOf(decoded.bytes, decoded.mediaType, media);
  return { kind: "file", contentType, body: decoded.bytes };
}

function decodedOrFault(text: string) {
  try {
    return decodeDataUri(text);
  } catch (error) {
    throw answerFault(error);
  }
}

/** For base64 without a header, as in image protocols. */
export async function fileFromBase64(
  call: Pick<ModelCall, "signal">,
  value: string | Spool,
  media: Media,
): Promise<FileOutput> {
  if (value instanceof Spool) return fromSpool(call, value, media);
  const { bytes } = decodedOrFault(`data:;base64,${value}`) ?? { bytes: new Uint8Array() };
  return { kind: "file", contentType: await typeOf(bytes, undefined, media), body: bytes };
}

async function fromSpool(call: Pick<ModelCall, "signal">, spool: Spool, media: Media): Promise<FileOutput> {
  try {
    const contentType = await typeOf(spool.head, spool.mediaType, media);
    const body = spool.body();
    return { kind: "file", contentType, body: body instanceof Readable ? endOnAbort(call.signal, body) : body };
  } catch (error) {
    await spool.discard();
    throw error;
  }
}

/** The headers are for addresses of the backend itself, never for links that it returns. */
export async function fileAt(
  backend: MediaBackend,
  call: Pick<ModelCall, "signal">,
  url: string,
  media: Media,
  headers: Record<string, string> = {},
): Promise<FileOutput> {
  const maxBytes = maxFileBytesOf(backend);
  const answer = await requestUpstream(backend.net, {
    url,
    method: "GET",
    headers: { accept: "*/*", "user-agent": "gantry", ...headers },
    mask: backend.mask,
    signal: call.signal,
    bounds: { totalMs: 3_600_000, headersMs: 60_000, idleMs: 60_000, maxBytes },
  });
  answer.body.on("error", () => {});
  const declared = answer.headers["content-type"];
  try {
    const { head, body } = await peek(answer.body, backend.mask);
    const contentType = await typeOf(head, Array.isArray(declared) ? declared[0] : declared, media);
    return { kind: "file", contentType, body: endOnAbort(call.signal, body) };
  } catch (error) {
    answer.body.destroy();
    call.signal.throwIfAborted();
    throw answerFault(error, backend.mask);
  }
}

/** The first bytes, and the whole body as a stream that fails with faults. */
async function peek(answer: NetBody, mask: Mask): Promise<{ head: Buffer; body: Readable }> {
  const chunks = answer[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  let size = 0;
  while (size < sampleBytes) {
    const next = await chunks.next();
    if (next.done) break;
    first.push(next.value as Buffer);
    size += (next.value as Buffer).length;
  }
  async function* whole(): AsyncGenerator<Buffer> {
    try {
      yield* first;
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value as Buffer;
    } catch (error) {
      throw answerFault(error, mask);
    }
  }
  const body = Readable.from(whole(), { objectMode: false });
  // A generator that was never started does not run its cleanup.
  body.once("close", () => answer.destroy());
  return { head: Buffer.concat(first), body };
}

/** Frees the file or the connection after an abort, even if the result is dropped unread. */
function endOnAbort(signal: AbortSignal, body: Readable): Readable {
  body.on("error", () => {});
  return addAbortSignal(signal, body);
}

/** Detects the type from the bytes, else uses the declared one. Refuses a type that does not fit the field. */
async function typeOf(head: Uint8Array, declared: string | undefined, media: Media): Promise<string> {
  if (head.length === 0) throw broken(new Error("The upstream sent an empty file"));
  const found = (await fileTypeFromBuffer(head.subarray(0, sampleBytes)))?.mime;
  const claimed = parseMediaType((declared ?? "").split(";", 1)[0] ?? "");
  const contentType = (found && !containers.has(found) ? found : (claimed ?? found)) ?? unknownType;
  if (accepted[media].test(contentType)) return contentType;
  throw broken(new Error(`The upstream sent ${contentType} instead of a file of kind ${media}`));
}
