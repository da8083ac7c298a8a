import { createHash } from "node:crypto";
import sharp from "sharp";
import { chromaOf, fromRgb } from "./colour.ts";

/** A reference image, scaled down to be embedded in the picture's SVG. */
export interface Reference {
  /** Width divided by height. */
  aspect: number;
  /** `data:` URI of a JPEG. */
  href: string;
  /** Strongest first. */
  colours: string[];
  /** Hash of the original bytes, part of the seed. */
  digest: string;
}

/** In pixels. A panel of the picture never shows more. */
const longestSide = { few: 1280, many: 640 };

const decodeSeconds = 10;

/** Rejects when the bytes cannot be decoded. With many references each is kept smaller. */
export async function readReference(bytes: Uint8Array, isOneOfMany: boolean): Promise<Reference> {
  const side = isOneOfMany ? longestSide.many : longestSide.few;
  const { data, info } = await sharp(bytes, { failOn: "error", limitInputPixels: 40_000_000 })
    .timeout({ seconds: decodeSeconds })
    .autoOrient()
    .resize(side, side, { fit: "inside", withoutEnlargement: true })
    .flatten({ background: "#fbfaf6" })
    .toColourspace("srgb")
    .jpeg({ quality: 92, chromaSubsampling: "4:4:4" })
    .toBuffer({ resolveWithObject: true });
  const pixels = await sharp(data).resize(32, 32, { fit: "fill" }).removeAlpha().raw().toBuffer();
  return {
    aspect: info.width / info.height,
    href: `data:image/jpeg;base64,${data.toString("base64")}`,
    colours: strongestColours(pixels),
    digest: createHash("sha256").update(bytes).digest("hex"),
  };
}

/** Counts pixels in 64 bins and ranks the bins by size and chroma. */
function strongestColours(pixels: Uint8Array): string[] {
  const bins = new Map<number, [count: number, r: number, g: number, b: number]>();
  for (let i = 0; i + 2 < pixels.length; i += 3) {
    const [r = 0, g = 0, b = 0] = pixels.subarray(i, i + 3);
    const key = ((r >> 6) << 4) | ((g >> 6) << 2) | (b >> 6);
    const bin = bins.get(key) ?? [0, 0, 0, 0];
    bins.set(key, [bin[0] + 1, bin[1] + r, bin[2] + g, bin[3] + b]);
  }
  return [...bins.values()]
    .map(([count, r, g, b]) => ({ count, colour: fromRgb(r / count, g / count, b / count) }))
    .map(({ count, colour }) => ({ colour, weight: count * (0.25 + chromaOf(colour) * 4) }))
    .toSorted((a, b) => b.weight - a.weight || (a.colour < b.colour ? -1 : 1))
    .slice(0, 3)
    .map(({ colour }) => colour);
}
