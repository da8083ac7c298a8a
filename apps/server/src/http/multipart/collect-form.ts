import { isUtf8 } from "node:buffer";
import { fault } from "../../kernel/errors.ts";
import { FilePart } from "./file-part.ts";
import type { MultipartEntry, OnFile } from "./form.ts";
import type { MultipartLimits } from "./limits.ts";
import type { PartHeaders } from "./part-headers.ts";
import type { Scanner } from "./scanner.ts";

export interface FormSource {
  /** The next bytes, undefined at the end of the body; left out where the scanner has all there is. */
  more?: () => Promise<Buffer | undefined>;
  /** Files are streamed to their receiver; otherwise they are handed over in memory. */
  isStreaming: boolean;
  /** The source calls what is set here when it knows that the body will not be complete. */
  onFailure: ((error: unknown) => void) | undefined;
}

/** Turns the scanner's events into entries: texts gathered under their bounds, files handed on one after the other. */
export async function collectForm<T>(
  scanner: Scanner,
  source: FormSource,
  limits: MultipartLimits,
  onFile: OnFile<T>,
): Promise<MultipartEntry<T>[]> {
  const entries: MultipartEntry<T>[] = [];
  const counts = { fields: 0, files: 0 };
  let headers: PartHeaders | undefined;
  let gathered: Buffer[] = [];
  let length = 0;
  let streamed: FilePart<T> | undefined;
  source.onFailure = (error) => streamed?.interrupt(error);

  try {
    for (;;) {
      const event = scanner.next();
      if (event === undefined) {
        const chunk = source.more && (await source.more());
        if (chunk === undefined) break;
        scanner.write(chunk);
      } else if (event.type === "part") {
        headers = event.headers;
        gathered = [];
        length = 0;
        countPart(headers, counts, limits);
      } else if (event.type === "data" && headers) {
        if (headers.isFile && source.isStreaming) {
          streamed ??= new FilePart(fileOf(headers), onFile);
          await streamed.feed(event.chunk);
          continue;
        }
        length += event.chunk.length;
        if (!headers.isFile && length > limits.maxFieldBytes) throw tooLong(headers.name, limits.maxFieldBytes);
        gathered.push(event.chunk);
      } else if (event.type === "part-end" && headers) {
        if (streamed) {
          const { name, filename } = fileOf(headers);
          entries.push({ name, file: await streamed.finish(), filename });
          streamed = undefined;
        } else if (headers.isFile && (length > 0 || headers.filename)) {
          const file = fileOf(headers);
          const { name, filename } = file;
          entries.push({ name, file: await onFile({ ...file, body: joined(gathered) }), filename });
        } else {
          // A browser sends a file input that was left empty as a file without a name and without bytes.
          entries.push({ name: headers.name, value: textOf(joined(gathered), headers) });
        }
      }
    }
    scanner.finish();
    return entries;
  } catch (error) {
    await streamed?.cancel(error);
    throw error;
  }
}

function countPart({ isFile }: PartHeaders, counts: { fields: number; files: number }, limits: MultipartLimits): void {
  const what = isFile ? "files" : "fields";
  const max = isFile ? limits.maxFiles : limits.maxFields;
  if (++counts[what] <= max) return;
  throw fault("too_many_fields", `The body has more than ${max} ${what}`, { ctx: { max_fields: max } });
}

function tooLong(name: string, max: number) {
  const options = { loc: ["body", name], ctx: { max_length: max } };
  return fault("string_too_long", `The field is longer than ${max} bytes`, options);
}

function joined(chunks: Buffer[]): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only ? only : Buffer.concat(chunks);
}

function fileOf({ name, filename, contentType }: PartHeaders) {
  return { name, filename: filename === "" ? undefined : filename, contentType };
}

function textOf(bytes: Buffer, { name, charset }: PartHeaders): string {
  const wrong = (msg: string) => fault("string_type", msg, { loc: ["body", name] });
  if (charset !== undefined && charset !== "utf-8" && charset !== "utf8") {
    try {
      return new TextDecoder(charset, { fatal: true }).decode(bytes);
    } catch {
      throw wrong(`The field is no text in the character set ${charset.slice(0, 40)}`);
    }
  }
  const text = bytes.toString("utf8");
  // The replacement character stands for bytes that are no UTF-8, or for itself.
  if (text.includes("\ufffd") && !isUtf8(bytes)) throw wrong("The field is no UTF-8 text");
  return text;
}
