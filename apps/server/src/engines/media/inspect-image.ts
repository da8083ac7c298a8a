import type { MediaInfo } from "./media.ts";

type Sharp = typeof import("sharp")["default"];

let loading: Promise<Sharp> | undefined;

/** Loaded with the first image, because libvips is large and would delay the start of the server. */
function decoder(): Promise<Sharp> {
  loading ??= import("sharp").then(({ default: sharp }) => {
    // The cache would keep deleted files open and decoded pixels in memory.
    sharp.cache(false);
    // One processor per image, so that the number of slots bounds the processors in use.
    sharp.concurrency(1);
    return sharp;
  });
  return loading;
}

/** By libvips' name of the format. */
export const imageKinds = {
  jpeg: { media: "image", extension: ".jpg", contentType: "image/jpeg" },
  png: { media: "image", extension: ".png", contentType: "image/png" },
  webp: { media: "image", extension: ".webp", contentType: "image/webp" },
  gif: { media: "image", extension: ".gif", contentType: "image/gif" },
  tiff: { media: "image", extension: ".tiff", contentType: "image/tiff" },
  avif: { media: "image", extension: ".avif", contentType: "image/avif" },
} as const satisfies Record<string, MediaInfo>;

export type ImageFormat = keyof typeof imageKinds;

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

/** Reads the size from the header. If the image has not too many pixels, decodes it to check it. */
export async function inspectImage(
  source: string | Uint8Array,
  format: ImageFormat,
  { maxPixels, maxMs }: { maxPixels: number; maxMs: number },
): Promise<MediaInfo> {
  const known: MediaInfo = imageKinds[format];
  const sharp = await decoder();
  // `failOn: error` accepts photographs with harmless defects, but not truncated or broken ones.
  const open = () => sharp(source, { limitInputPixels: false, failOn: "error", sequentialRead: true });
  try {
    const { width, height, pageHeight, format: found, compression } = await open().metadata();
    const isSame = found === format || (found === "heif" && compression === "av1" && format === "avif");
    if (!isSame || !width || !height) return { ...known, damaged: true };
    const size = { ...known, width, height: pageHeight ?? height };
    if (size.width * size.height > maxPixels) return size;
    const whole = open().timeout({ seconds: Math.ceil(maxMs / 1000) });
    await whole.resize(8, 8, { fit: "fill", kernel: "nearest" }).raw().toBuffer();
    return size;
  } catch {
    return { ...known, damaged: true };
  }
}
