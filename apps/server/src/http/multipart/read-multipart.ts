import type { IncomingMessage } from "node:http";
import { discardBody } from "../foundation/discard-body.ts";
import { BodyReader, malformedBody } from "./body-reader.ts";
import { collectForm, type FormSource } from "./collect-form.ts";
import type { MultipartBody, NotMultipart, OnFile } from "./form.ts";
import { defaultLimits, type MultipartLimits } from "./form.ts";
import { parseHeaderValue } from "./header-value.ts";
import { Malformed, Scanner } from "./scanner.ts";

export interface ReadMultipartOptions<T> {
  onFile: OnFile<T>;
  limits?: Partial<MultipartLimits>;
  signal?: AbortSignal;
}

/**
 * Reads the form of a request. Rejects with faults (`multipart_invalid`, `too_many_fields`, `string_too_long`,
 * `string_type`) or with an error of `onFile`. If it stops early, `discardBody` handles the rest.
 *
 * A small body of known length is read whole and parsed at once: one allocation, no stream. Everything else is parsed as
 * it arrives. Both use the same scanner, so they cannot differ.
 */
export async function readMultipart<T>(
  request: IncomingMessage,
  { onFile, limits: given, signal }: ReadMultipartOptions<T>,
): Promise<MultipartBody<T>> {
  const limits = given ? { ...defaultLimits, ...given } : defaultLimits;
  const boundary = boundaryOf(request.headers["content-type"]);
  if (boundary === undefined) {
    discardBody(request);
    return notMultipart(request.headers["content-type"]);
  }
  let reader: BodyReader | undefined;
  try {
    if (boundary === "") throw new Malformed("the Content-Type header has no valid boundary");
    const scanner = new Scanner(boundary, limits);
    const length = Number(request.headers["content-length"] ?? Number.POSITIVE_INFINITY);
    const isSmall = length <= limits.bufferedBytes;
    if (isSmall && request.readableLength !== length) await new Promise<void>(process.nextTick);
    const arrived = isSmall ? takeArrived(request, length) : undefined;
    signal?.throwIfAborted();
    if (!arrived) reader = new BodyReader(request, { signal });
    if (isSmall) scanner.write(arrived ?? (await reader?.readAll()) ?? nothing);
    const source: FormSource = isSmall || !reader ? ended() : reader;
    return { kind: "form", entries: await collectForm(scanner, source, limits, onFile) };
  } catch (error) {
    discardBody(request);
    throw error instanceof Malformed
      ? malformedBody(`The body is not a valid multipart form: ${error.message}`)
      : error;
  } finally {
    reader?.release();
  }
}

const nothing = Buffer.alloc(0);
const ended = (): FormSource => ({ isStreaming: false, onFailure: undefined });

/**
 * A small body usually arrives in one packet with the headers. Taking it without a listener or timer is cheaper than
 * parsing it. Undefined if incomplete.
 */
function takeArrived(request: IncomingMessage, length: number): Buffer | undefined {
  if (request.readableLength !== length || request.readableFlowing) return undefined;
  const bytes: Buffer | null = request.read();
  // The connection still waits for the end of the stream.
  request.resume();
  return bytes ?? nothing;
}

const longestType = 100;

function notMultipart(contentType: string | undefined): NotMultipart {
  const [essence = ""] = (contentType ?? "").split(";", 1);
  const given = essence.trim().toLowerCase().slice(0, longestType);
  return {
    kind: "not-multipart",
    ctx: { expected_content_type: "multipart/form-data", given: given === "" ? null : given },
  };
}

const plainType = /^multipart\/form-data; ?boundary=([\w'()+,./:=?-]{1,70})$/;
const boundaryCharacters = /^[\w'()+,./:=? -]{1,70}$/;

/** Undefined: not multipart. Empty: multipart, but without a usable boundary. */
function boundaryOf(contentType: string | undefined): string | undefined {
  if (contentType === undefined) return undefined;
  const quick = plainType.exec(contentType)?.[1];
  if (quick !== undefined) return quick;
  if (!/^\s*multipart\/form-data\s*(;|$)/i.test(contentType)) return undefined;
  const boundary = parseHeaderValue(contentType)?.params.get("boundary") ?? "";
  return boundaryCharacters.test(boundary) && !boundary.endsWith(" ") ? boundary : "";
}
