import type { ImageFormat } from "../pictures/pictures.ts";
import type { MediaInfo } from "./media.ts";

export const imageKinds = {
  jpeg: { media: "image", extension: ".jpg", contentType: "image/jpeg" },
  png: { media: "image", extension: ".png", contentType: "image/png" },
  webp: { media: "image", extension: ".webp", contentType: "image/webp" },
  gif: { media: "image", extension: ".gif", contentType: "image/gif" },
  tiff: { media: "image", extension: ".tiff", contentType: "image/tiff" },
  avif: { media: "image", extension: ".avif", contentType: "image/avif" },
} as const satisfies Record<ImageFormat, MediaInfo>;

const starts: readonly (readonly [format: ImageFormat, offset: number, bytes: string])[] = [
  ["jpeg", 0, "ffd8ff"],
  ["png", 0, "89504e470d0a1a0a"],
  ["webp", 8, "57454250"],
  ["gif", 0, "474946383761"],
  ["gif", 0, "474946383961"],
];

/** Formats that the first bytes identify. */
export const namedByHead: ReadonlySet<string> = new Set(starts.map(([format]) => imageKinds[format].extension));

/** Recognizes common image formats; `file-type` recognizes the others. */
export function imageFormatOf(head: Buffer): ImageFormat | undefined {
  for (const [format, offset, bytes] of starts) {
    if (head.toString("hex", offset, offset + bytes.length / 2) !== bytes) continue;
    if (format !== "webp" || head.toString("latin1", 0, 4) === "RIFF") return format;
  }
  return undefined;
}

export function rarerFormatOf({ extension }: MediaInfo): ImageFormat | undefined {
  const formats: readonly ImageFormat[] = ["tiff", "avif"];
  return formats.find((format) => imageKinds[format].extension === extension);
}
