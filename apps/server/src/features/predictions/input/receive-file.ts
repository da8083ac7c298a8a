import { createHash, type Hash } from "node:crypto";
import type { Media } from "../../../engines/media/media.ts";
import type { FileInput } from "../../../engines/models/driver.ts";
import { Fault, type Issue } from "../../../kernel/errors.ts";
import { notText, repeatedField, unknownField } from "./check-fields.rules.ts";
import type { ReceivedFile } from "./checked-fields.ts";
import { type ListBytes, tooManyFiles } from "./file-lists.rules.ts";
import { type FormFile, issueOf, type Problem } from "./form.ts";
import { acceptedBy, type FilePlan, judgeFile, maxPixels } from "./media.rules.ts";
import type { FileField, InputPlan } from "./plan-input.rules.ts";
import { LongerThanAllowed, type Spool, type Spooled } from "./spool.ts";

/** Unwanted files are read up to this size, so that the issues of later fields are found too. */
const maxDroppedBytes = 1_048_576;

interface Receiving {
  plan: InputPlan;
  spool: Spool;
  media: Media;
  userId: string;
  signal: AbortSignal;
  listBytes: ListBytes;
  /** Whether files are described with the input that is kept. */
  hashes: boolean;
}

/**
 * Receives the file parts of one form: spools them up to the limit of their field, then inspects them. Issues of files are
 * collected with those of other fields. Only a file that is too large stops reading.
 */
export function receiveFiles({ plan, spool, media, userId, signal, listBytes, hashes }: Receiving) {
  const fieldOf = fieldsOfFiles(plan);
  return async (part: FormFile): Promise<ReceivedFile<CheckedFile>> => {
    const field = fieldOf(part.name);
    if (!("kind" in field)) return dropFile(part.body, field);
    try {
      const spooled = await spool.take(part.body, listBytes.most(field), { ownsChunks: true, ...hashing(hashes) });
      listBytes.take(field, spooled.size);
      const result = await inspectFile({ media, userId, signal }, field, spooled, part.filename);
      return isCheckedFile(result) ? { file: result } : { issue: issueOf(part.name, result) };
    } catch (error) {
      throw withoutLongFile(error, part.name, field, listBytes);
    }
  };
}

export function hashing(hashes: boolean): { hash?: Hash } {
  return hashes ? { hash: createHash("sha256") } : {};
}

/** Maps the file parts of one form, in order, to their fields or to the issue of an unwanted part. */
export function fieldsOfFiles(plan: InputPlan): (partName: string) => FileField | Issue {
  const taken = new Map<string, number>();
  return (partName) => {
    const field = plan.byWireName.get(partName);
    if (!field) return unknownField(partName);
    if (field.kind === "text") return notText(partName);
    const count = taken.get(field.name) ?? 0;
    taken.set(field.name, count + 1);
    if (count < (field.list?.most ?? 1)) return field;
    return field.list ? issueOf(field.name, tooManyFiles(field.list.most)) : repeatedField(partName);
  };
}

export function withoutLongFile(error: unknown, partName: string, field: FileField, listBytes: ListBytes): unknown {
  return error instanceof LongerThanAllowed ? new Fault([issueOf(partName, listBytes.tooLarge(field))]) : error;
}

export async function dropFile(
  body: FormFile["body"],
  issue: Issue,
  { mostBytes = maxDroppedBytes, hash }: { mostBytes?: number | undefined; hash?: Hash } = {},
): Promise<{ issue: Issue }> {
  if (body instanceof Uint8Array) hash?.update(body);
  if (body instanceof Uint8Array || "source" in body) return { issue };
  let left = mostBytes;
  for await (const chunk of body) {
    left -= chunk.length;
    if (left < 0) throw new Fault([issue]);
    hash?.update(chunk);
  }
  return { issue };
}

export interface CheckedFile extends FileInput {
  readonly field: string;
  /** The position in a list of files. Undefined for a single file. */
  readonly index?: number;
  /** The path, if the file is on disk. `BlobStore.putFile` may move it from there. */
  readonly path: string | undefined;
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly durationSeconds: number | undefined;
  /** Set if the input may be kept. */
  readonly sha256?: string | undefined;
  /** The `s3://` address by which the caller named it. */
  readonly stored?: string | undefined;
  /** The public address by which the caller named it. */
  readonly url?: string | undefined;
}

interface Inspecting {
  media: Media;
  userId: string;
  signal: AbortSignal;
}

export async function inspectFile(
  { media, userId, signal }: Inspecting,
  field: { name: string; file: FilePlan },
  { source, size, sha256, open }: Spooled,
  filename: string | undefined,
): Promise<CheckedFile | Problem> {
  const formats = acceptedBy(field.file);
  const decodes = field.file.media === "image";
  const info = await media.inspect(source, { userId, maxPixels, formats, decodes, signal });
  const problem = judgeFile(field.file, info);
  if (problem) return problem;
  return {
    kind: "file",
    field: field.name,
    contentType: info.contentType,
    size,
    filename,
    path: typeof source === "string" ? source : undefined,
    width: info.width,
    height: info.height,
    durationSeconds: info.durationSeconds,
    sha256,
    open,
  };
}

export function isCheckedFile(result: CheckedFile | Problem): result is CheckedFile {
  return "kind" in result;
}
