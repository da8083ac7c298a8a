import type { FieldSchema } from "@gantry/wire";
import type { MediaInfo } from "../../../engines/media/media.ts";
import type { Problem } from "./form.ts";

export type FieldMedia = "image" | "video" | "audio" | "file";

export const megabyte = 1_048_576;
export const maxPixels = 36_000_000;
const minSide = 14;

/** The largest size and the default formats for each kind of file field. */
const mediaTable: Readonly<Record<FieldMedia, { maxBytes: number; formats: readonly string[] | undefined }>> = {
  image: { maxBytes: 30 * megabyte, formats: [".jpg", ".jpeg", ".png", ".webp"] },
  video: { maxBytes: 500 * megabyte, formats: [".mp4", ".mov", ".webm"] },
  audio: { maxBytes: 500 * megabyte, formats: [".mp3", ".wav", ".m4a", ".aac", ".ogg", ".opus", ".flac", ".webm"] },
  file: { maxBytes: 500 * megabyte, formats: undefined },
};

export const maxFileBytes = Math.max(...Object.values(mediaTable).map((row) => row.maxBytes));

export interface FilePlan {
  media: FieldMedia;
  maxBytes: number;
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
/** Text formats, which bytes do not distinguish. */
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

/** The detected extensions that the field accepts; undefined for all. */
export function acceptedBy({ formats }: FilePlan): ReadonlySet<string> | undefined {
  if (!formats) return undefined;
  const lower = formats.map((format) => format.toLowerCase());
  return new Set([...lower.map((format) => spellings[format] ?? format), ...lower.flatMap(asText)]);
}

const asText = (format: string): string[] => (texts.has(format) ? [".txt"] : []);

export function judgeFile(plan: FilePlan, info: MediaInfo): Problem | undefined {
  const isKind = plan.media === "file" || plan.media === info.media;
  const isAccepted = acceptedBy(plan)?.has(info.extension) ?? true;
  if (!isKind || !isAccepted) return wrongFormat(plan);
  if (plan.media === "image") return judgeImage(info);
  if (plan.media === "video") return judgeVideo(plan, info);
  return plan.media === "audio" && info.damaged ? wrongFormat(plan) : undefined;
}

function judgeImage({ width, height, damaged }: MediaInfo): Problem | undefined {
  if (damaged) return { type: "image_load_error", msg: "The image is damaged or takes too long to decode" };
  // A format that the manifest allows but this server cannot decode.
  if (width === undefined || height === undefined) return undefined;
  if (width * height > maxPixels) {
    const msg = `The image has ${width}x${height} pixels. At most ${maxPixels} pixels in total are allowed.`;
    return { type: "image_too_large", msg, ctx: { max_pixels: maxPixels, width, height } };
  }
  if (width < minSide || height < minSide) {
    const msg = `The image has ${width}x${height} pixels. At least ${minSide}x${minSide} are required.`;
    return { type: "image_too_small", msg, ctx: { min_width: minSide, min_height: minSide } };
  }
  return undefined;
}

function judgeVideo(plan: FilePlan, { durationSeconds, damaged }: MediaInfo): Problem | undefined {
  const max = plan.maxDurationSeconds;
  if (damaged || (max !== undefined && durationSeconds === undefined)) return wrongFormat(plan);
  if (max === undefined || durationSeconds === undefined || durationSeconds <= max) return undefined;
  const msg = `The video is ${durationSeconds} seconds long. At most ${max} seconds are allowed.`;
  return { type: "video_duration_too_long", msg, ctx: { max_duration: max, provided_duration: durationSeconds } };
}

function wrongFormat({ media, formats = [] }: FilePlan): Problem {
  const type =
    media === "image" ? "invalid_image_format" : media === "video" ? "invalid_video_format" : "invalid_file_format";
  const what = media === "file" ? "file" : media;
  return {
    type,
    msg: `The ${what} is not in a supported format: ${formats.join(", ")}`,
    ctx: { supported_formats: formats },
  };
}

export function tooLarge({ media, maxBytes }: FilePlan): Problem {
  const msg = `The ${media} is larger than ${maxBytes / megabyte} MB`;
  return { type: "file_too_large", msg, ctx: { max_size: maxBytes } };
}
