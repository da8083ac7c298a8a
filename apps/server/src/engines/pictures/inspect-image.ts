import sharp from "sharp";
import type { ImageFormat, ImageSize } from "./pictures.ts";

export async function inspectImage(
  source: string | Uint8Array,
  { format, maxPixels }: { format: ImageFormat; maxPixels: number },
): Promise<ImageSize | undefined> {
  // `failOn: error` accepts photographs with harmless defects, but not truncated or broken ones.
  const open = () => sharp(source, { limitInputPixels: false, failOn: "error", sequentialRead: true });
  try {
    const { width, height, pageHeight, format: found, compression } = await open().metadata();
    const isSame = found === format || (found === "heif" && compression === "av1" && format === "avif");
    if (!isSame || !width || !height) return undefined;
    const size = { width, height: pageHeight ?? height };
    if (size.width * size.height > maxPixels) return size;
    await open().resize(8, 8, { fit: "fill", kernel: "nearest" }).raw().toBuffer();
    return size;
  } catch {
    return undefined;
  }
}
