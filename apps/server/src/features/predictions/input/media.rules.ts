import type { FieldSchema } from "@gantry/wire";
import type { MediaInfo } from "../../../engines/media/media.ts";
import type { Problem } from "./form.ts";

export type FieldMedia = "image" | "video" | "audio" | "file";

const megabyte = 1_048_576;
export const maxPixels = 36_000_000;
const minSide = 14;

/** For each kind of file field: how long a file may be, and the formats it takes unless the manifest says otherwise. */
const mediaTable: Readonly<Record<FieldMedia, { maxBytes: number; formats: readonly string[] | undefined }>> = {
  image: { maxBytes: 30 * megabyte, formats: [".jpg", ".jpeg", ".png", ".webp"] },
  video: { maxBytes: 500 * megabyte, formats: [".mp4", ".mov", ".webm"] },
  audio: { maxBytes: 500 * megabyte, formats: [".mp3", ".wav", ".m4a", ".aac", ".ogg", ".opus", ".flac", ".webm"] },
  file: { maxBytes: 500 * megabyte, formats: undefined },
};

/** No field takes a longer file. */
export const maxFileBytes = Math.max(...Object.values(mediaTable).map((row) => row.maxBytes));

export interface FilePlan {
  media: FieldMedia;
  maxBytes: number;
  /** Undefined: any. */
  formats: readonly string[] | undefined;
  maxDurationSeconds: number | undefined;
}

export function planFile(schema: FieldSchema): FilePlan {
  const media = schema["x-media"] ?? "file";
  const row = mediaTable[media];
  const maxDurationSeconds = media === "video" ? schema["x-max-duration"] : undefined;
  return { media, maxBytes: row.maxBytes, formats: schema["x-formats"] ?? row.formats, maxDurationSeconds };
}

const spellings: Readonly<Record<string, string>> = {
  ".jpeg": ".jpg",
  ".tif": ".tiff",
  ".m4v": ".mp4",
  ".oga": ".ogg",
};
/** Bytes tell that something is text, not which kind of text. */
const texts = new Set([
  ".txt",
  ".csv",
  ".tsv",
  ".json",
  ".jsonl",
  ".md",
  ".xml",
  ".html",
  ".yaml",
  ".yml",
  ".srt",
  ".vtt",
]);

/** The extensions that bytes are named by and the field accepts; undefined: all. */
export function acceptedBy({ formats }: FilePlan): ReadonlySet<string> | undefined {
  if (!formats) return undefined;
  const lower = formats.map((format) => format.toLowerCase());
  return new Set([...lower.map((format) => spellings[format] ?? format), ...lower.flatMap(asText)]);
}

const asText = (format: string): string[] => (texts.has(format) ? [".txt"] : []);

/** The first thing that is wrong with a file, by what its bytes are. */
export function judgeFile(plan: FilePlan, info: MediaInfo): Problem | undefined {
  const isKind = plan.media === "file" || plan.media === info.media;
  const isAccepted = acceptedBy(plan)?.has(info.extension) ?? true;
  if (!isKind || !isAccepted) return wrongFormat(plan);
  if (plan.media === "image") return judgeImage(info);
  if (plan.media === "video") return judgeVideo(plan, info);
  return plan.media === "audio" && info.damaged ? wrongFormat(plan) : undefined;
}

function judgeImage({ width, height, damaged }: MediaInfo): Problem | undefined {
  if (damaged) return { type: "image_load_error", msg: "The image is damaged, or takes too long to decode" };
  // A rare format that the manifest allows and nothing here can decode.
  if (width === undefined || height === undefined) return undefined;
  if (width * height > maxPixels) {
    const msg = `The image has ${width}x${height} pixels, more than ${maxPixels} in all`;
    return { type: "image_too_large", msg, ctx: { max_pixels: maxPixels, width, height } };
  }
  if (width < minSide || height < minSide) {
    const msg = `The image has ${width}x${height} pixels, at least ${minSide}x${minSide} are needed`;
    return { type: "image_too_small", msg, ctx: { min_width: minSide, min_height: minSide } };
  }
  return undefined;
}

function judgeVideo(plan: FilePlan, { durationSeconds, damaged }: MediaInfo): Problem | undefined {
  const max = plan.maxDurationSeconds;
  if (damaged || (max !== undefined && durationSeconds === undefined)) return wrongFormat(plan);
  if (max === undefined || durationSeconds === undefined || durationSeconds <= max) return undefined;
  const msg = `The video is ${durationSeconds} seconds long, at most ${max} are allowed`;
  return { type: "video_duration_too_long", msg, ctx: { max_duration: max, provided_duration: durationSeconds } };
}

function wrongFormat({ media, formats = [] }: FilePlan): Problem {
  const type =
    media === "image" ? "invalid_image_format" : media === "video" ? "invalid_video_format" : "invalid_file_format";
  const what = media === "file" ? "file" : media;
  return {
    type,
    msg: `The ${what} is not readable as one of: ${formats.join(", ")}`,
    ctx: { supported_formats: formats },
  };
}

export function tooLarge({ media, maxBytes }: FilePlan): Problem {
  const msg = `The ${media} is larger than ${maxBytes / megabyte} MB`;
  return { type: "file_too_large", msg, ctx: { max_size: maxBytes } };
}
