import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { maxDriveFileBytes } from "@gantry/wire";
import type { Drives, StagedContent } from "../../features/drives/index.ts";
import { type Fault, fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import { notMediaType, parseMediaType } from "../../kernel/media-type.rules.ts";
import { BodyReader } from "../multipart/body-reader.ts";
import { type MultipartBody, readMultipart } from "../multipart/index.ts";

/** Path, headers and boundaries of a form. */
const formOverheadBytes = 65_536;
const maxPathFieldBytes = 16_384;

export interface UploadedForm {
  staged: StagedContent;
  declaredType: string;
  /** The requested text fields. */
  texts: Record<string, string>;
}

/**
 * Reads a form with one `file` and the given text fields, all required, in any order. Bytes are staged as they arrive,
 * and discarded if anything is wrong.
 */
export async function readUploadForm(
  request: IncomingMessage,
  stage: (body: Readable | Uint8Array) => Promise<StagedContent>,
  discard: Drives["discardContent"],
  textFields: readonly string[],
): Promise<UploadedForm> {
  refuseTooLong(request, maxDriveFileBytes + formOverheadBytes);
  let file: { staged: StagedContent; declaredType: string } | undefined;
  try {
    const form = await readMultipart(request, {
      limits: { maxFields: 16, maxFiles: 2, maxFieldBytes: maxPathFieldBytes },
      onFile: async ({ name, contentType, body }) => {
        if (name !== "file") {
          throw textFields.includes(name)
            ? fault("string_type", "The field must be text, not a file", { loc: ["body", name] })
            : unknownField(name);
        }
        if (file) throw fault("extra_forbidden", "The field was given twice", { loc: ["body", "file"] });
        if (parseMediaType(contentType) === undefined) {
          throw fault("value_error", notMediaType, { loc: ["body", "file"], input: contentType });
        }
        file = { staged: await stage(body), declaredType: contentType };
      },
    });
    const texts = textsOf(form, textFields, file !== undefined);
    if (!file) throw new Error("a form without a file passed");
    return { ...file, texts };
  } catch (error) {
    // The part after the file was invalid or incomplete.
    if (file) await discard(file.staged);
    throw error;
  }
}

function textsOf(form: MultipartBody<unknown>, wanted: readonly string[], hasFile: boolean): Record<string, string> {
  const texts: Record<string, string> = {};
  const issues: Issue[] = [];
  const report = (type: Issue["type"], name: string, msg: string) => issues.push({ type, loc: ["body", name], msg });
  const reportMissing = (name: string) =>
    issues.push({
      type: "missing",
      loc: ["body", name],
      msg: "Field required",
      ...(form.kind === "not-multipart" && { ctx: form.ctx }),
    });
  for (const entry of form.kind === "form" ? form.entries : []) {
    if (!("value" in entry)) continue;
    const { name, value } = entry;
    if (name === "file") {
      // An empty file input arrives as empty text, and is reported as missing below.
      if (value !== "") report("value_error", name, "The content must be sent as a file, with a file name");
    } else if (!wanted.includes(name)) report("extra_forbidden", name, "Unknown field");
    else if (Object.hasOwn(texts, name)) report("extra_forbidden", name, "The field was given twice");
    else texts[name] = value;
  }
  for (const name of wanted) if (!Object.hasOwn(texts, name)) reportMissing(name);
  if (!hasFile && !issues.some(({ loc }) => loc[1] === "file")) reportMissing("file");
  throwIfAny(issues);
  return texts;
}

/** Passes a raw body to `receive` as a stream that fails if the client disconnects. */
export async function receiveRawBody<T>(request: IncomingMessage, receive: (body: Readable) => Promise<T>): Promise<T> {
  refuseTooLong(request, maxDriveFileBytes);
  const reader = new BodyReader(request);
  const body = Readable.from(piecesOf(reader));
  // The receiver gets the error from its own reads; without a listener it would end the process.
  body.on("error", () => {});
  try {
    return await receive(body);
  } finally {
    body.destroy();
    reader.release();
  }
}

async function* piecesOf(reader: BodyReader): AsyncGenerator<Buffer> {
  for (let piece = await reader.more(); piece !== undefined; piece = await reader.more()) yield piece;
}

/** A body that is too large by its Content-Length is refused before a byte is stored. */
function refuseTooLong(request: IncomingMessage, maxBytes: number): void {
  if (Number(request.headers["content-length"] ?? 0) <= maxBytes) return;
  const options = { loc: ["body", "file"], ctx: { max_size: maxDriveFileBytes } };
  throw fault("file_too_large", `The file is larger than ${maxDriveFileBytes} bytes`, options);
}

function unknownField(name: string): Fault {
  return fault("extra_forbidden", "Unknown field", { loc: ["body", name] });
}
