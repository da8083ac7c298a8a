import type { MediaInfo } from "./media.ts";

type Sharp = typeof import("sharp")["default"];

let loading: Promise<Sharp> | undefined;

/** Loaded at the first picture: libvips is large, and a server that is starting does not wait for it. */
function decoder(): Promise<Sharp> {
  loading ??= import("sharp").then(({ default: sharp }) => {
    // The cache would keep files open after they are deleted, and decoded pixels of one caller in memory for nobody.
    sharp.cache(false);
    return sharp;
  });
  return loading;
}

/** What libvips can decode here, by the name it gives to the format. */
const decodable: Readonly<Record<string, { extension: string; contentType: string }>> = {
  jpeg: { extension: ".jpg", contentType: "image/jpeg" },
  png: { extension: ".png", contentType: "image/png" },
  webp: { extension: ".webp", contentType: "image/webp" },
  gif: { extension: ".gif", contentType: "image/gif" },
  tiff: { extension: ".tiff", contentType: "image/tiff" },
  avif: { extension: ".avif", contentType: "image/avif" },
};

const starts: readonly (readonly [format: string, offset: number, bytes: string])[] = [
  ["jpeg", 0, "ffd8ff"],
  ["png", 0, "89504e470d0a1a0a"],
  ["webp", 8, "57454250"],
  ["gif", 0, "474946383761"],
  ["gif", 0, "474946383961"],
];

/** The common image formats, told by their first bytes; the rest is for `file-type`. */
export function imageFormatOf(head: Buffer): string | undefined {
  for (const [format, offset, bytes] of starts) {
    if (head.toString("hex", offset, offset + bytes.length / 2) !== bytes) continue;
    if (format !== "webp" || head.toString("latin1", 0, 4) === "RIFF") return format;
  }
  return undefined;
}

export function isDecodable(format: string): boolean {
  return format in decodable;
}

/** Size from the header; then, if there are not too many pixels, a decode of the whole picture into a tiny one. */
export async function inspectImage(
  source: string | Uint8Array,
  format: string,
  maxPixels: number,
): Promise<MediaInfo | undefined> {
  const kind = decodable[format];
  if (!kind) return undefined;
  const known: MediaInfo = { media: "image", ...kind };
  const sharp = await decoder();
  // `failOn: error`: photographs with harmless oddities pass, truncated and broken ones do not.
  const open = () => sharp(source, { limitInputPixels: false, failOn: "error", sequentialRead: true });
  try {
    const { width, height, pageHeight, format: found, compression } = await open().metadata();
    const isSame = found === format || (found === "heif" && compression === "av1" && format === "avif");
    if (!isSame || !width || !height) return { ...known, damaged: true };
    const size = { ...known, width, height: pageHeight ?? height };
    if (size.width * size.height > maxPixels) return size;
    await open().resize(8, 8, { fit: "fill", kernel: "nearest" }).raw().toBuffer();
    return size;
  } catch {
    return { ...known, damaged: true };
  }
}
