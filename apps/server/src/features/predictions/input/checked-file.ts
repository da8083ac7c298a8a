import type { Media } from "../../../engines/media/media.ts";
import type { FileInput } from "../../../engines/models/driver.ts";
import { acceptedBy, type FilePlan, judgeFile, maxPixels } from "./media.rules.ts";
import type { Problem } from "./problem.ts";
import type { Spooled } from "./spool.ts";

/** A file that its field accepts. */
export interface CheckedFile extends FileInput {
  readonly field: string;
  /** Where it lies, if it lies on disk; `BlobStore.putFile` may take it over from there. */
  readonly path: string | undefined;
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly durationSeconds: number | undefined;
}

interface Inspecting {
  media: Media;
  userId: string;
  signal: AbortSignal;
}

export async function inspectFile(
  { media, userId, signal }: Inspecting,
  field: { name: string; file: FilePlan },
  { source, size, open }: Spooled,
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
    open,
  };
}

export function isCheckedFile(result: CheckedFile | Problem): result is CheckedFile {
  return "kind" in result;
}
